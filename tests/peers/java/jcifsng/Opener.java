import jcifs.CIFSContext;
import jcifs.config.PropertyConfiguration;
import jcifs.context.BaseContext;
import jcifs.smb.NtlmPasswordAuthenticator;
import jcifs.smb.SmbFile;

/** jcifs-ng: one context with the settings and the user, both from system properties. */
class Opener {
    private static CIFSContext context;

    static SmbFile open(String url) throws Exception {
        if (context == null) {
            CIFSContext base = new BaseContext(new PropertyConfiguration(System.getProperties()));
            String user = System.getProperty("driver.user");
            context = base.withCredentials(new NtlmPasswordAuthenticator("", user, System.getProperty("driver.password")));
        }
        return new SmbFile(url, context);
    }
}
