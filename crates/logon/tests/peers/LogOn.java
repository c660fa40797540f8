// Logs on with jcifs-ng, SMB1 only, and prints how the tree connect was answered.
import jcifs.CIFSContext;
import jcifs.config.PropertyConfiguration;
import jcifs.context.BaseContext;
import jcifs.smb.NtlmPasswordAuthenticator;
import jcifs.smb.SmbException;
import jcifs.smb.SmbFile;
import java.util.Properties;

public class LogOn {
    public static void main(String[] args) throws Exception {
        Properties properties = new Properties();
        properties.setProperty("jcifs.smb.client.minVersion", "SMB1");
        properties.setProperty("jcifs.smb.client.maxVersion", "SMB1");
        properties.setProperty("jcifs.smb.client.dfs.disabled", "true");
        properties.setProperty("jcifs.smb.client.signingPreferred", "true");
        CIFSContext context = new BaseContext(new PropertyConfiguration(properties))
            .withCredentials(new NtlmPasswordAuthenticator("GROUP", "bob", "Password"));
        try (SmbFile file = new SmbFile("smb://127.0.0.1:" + args[0] + "/X/", context)) {
            file.connect();
        } catch (SmbException refused) {
            System.out.println(String.format("0x%08X", refused.getNtStatus()));
        }
        System.exit(0);
    }
}
