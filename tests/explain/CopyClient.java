import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.InputStream;
import java.io.OutputStream;

/** A copy by jcifs: "get" or "put", URL of the remote file, local file, delay in milliseconds at each buffer, buffer's size. */
public class CopyClient {
    public static void main(String[] arguments) throws Exception {
        boolean get = arguments[0].equals("get");
        long delay = Long.parseLong(arguments[3]);
        byte[] buffer = new byte[Integer.parseInt(arguments[4])];
        try (InputStream in = get ? Opener.open(arguments[1]).getInputStream() : new FileInputStream(arguments[2]);
             OutputStream out = get ? new FileOutputStream(arguments[2]) : Opener.open(arguments[1]).getOutputStream()) {
            for (int count = in.read(buffer); count > 0; count = in.read(buffer)) {
                if (delay > 0) Thread.sleep(delay);
                out.write(buffer, 0, count);
            }
        }
        System.exit(0);
    }
}
