import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import jcifs.smb.SmbFile;

/**
 * One cycle of file work through jcifs. The same source serves both generations of the library, which name their
 * classes alike; how a file is opened differs and is the Opener beside this.
 *
 * Arguments: base URL of the share, folder with the files to put, folder to get into, long name, non-ASCII name.
 * Prints one line a step: "ok STEP" or "FAIL STEP reason".
 */
public class Driver {
    private interface Step { void run() throws Exception; }

    private static String url;
    private static File[] local;
    private static File fetched;

    public static void main(String[] arguments) throws Exception {
        url = arguments[0];
        local = new File(arguments[1]).listFiles();
        Arrays.sort(local);
        fetched = new File(arguments[2]);
        String drafts = url + "drafts/";
        step("shares", () -> shares());
        step("mkdir", () -> Opener.open(drafts).mkdir());
        step("put", () -> { for (File file : local) put(file, drafts + file.getName()); });
        step("list", () -> list(url + "planted/", names(local)));
        step("get", () -> { for (File file : local) get(url + "planted/" + file.getName(), file.getName()); });
        step("rename", () -> Opener.open(drafts + local[0].getName()).renameTo(Opener.open(drafts + "RENAMED.BIN")));
        if (Boolean.parseBoolean(System.getProperty("driver.attributes", "true"))) {
            step("attr", () -> attributes(drafts + local[1].getName()));
        }
        step("long", () -> named(drafts, arguments[3]));
        step("nonascii", () -> named(drafts, arguments[4]));
        step("delete", () -> { for (SmbFile file : Opener.open(drafts).listFiles()) file.delete(); });
        step("rmdir", () -> Opener.open(drafts).delete());
        System.exit(0);
    }

    private static void step(String name, Step step) {
        try {
            step.run();
            System.out.println("ok " + name);
        } catch (Exception error) {
            System.out.println("FAIL " + name + " " + String.valueOf(error).replace('\n', ' '));
        }
    }

    private static void shares() throws Exception {
        String server = url.substring(0, url.indexOf('/', "smb://".length()) + 1);
        for (SmbFile share : Opener.open(server).listFiles()) {
            if (url.equalsIgnoreCase(server + share.getName())) return;
        }
        throw new Exception("the share is not listed");
    }

    private static void put(File from, String to) throws Exception {
        try (InputStream in = new FileInputStream(from); OutputStream out = Opener.open(to).getOutputStream()) {
            copy(in, out);
        }
    }

    private static void get(String from, String name) throws Exception {
        try (InputStream in = Opener.open(from).getInputStream();
             OutputStream out = new FileOutputStream(new File(fetched, name))) {
            copy(in, out);
        }
    }

    private static void copy(InputStream in, OutputStream out) throws Exception {
        byte[] buffer = new byte[65536];
        for (int count = in.read(buffer); count > 0; count = in.read(buffer)) out.write(buffer, 0, count);
    }

    private static Set<String> names(File[] files) {
        Set<String> names = new TreeSet<>();
        for (File file : files) names.add(file.getName().toLowerCase());
        return names;
    }

    private static void list(String folder, Set<String> wanted) throws Exception {
        Set<String> seen = new TreeSet<>();
        for (SmbFile file : Opener.open(folder).listFiles()) seen.add(file.getName().toLowerCase());
        wanted.removeAll(seen);
        if (!wanted.isEmpty()) throw new Exception("not listed: " + wanted);
    }

    private static void attributes(String path) throws Exception {
        SmbFile file = Opener.open(path);
        file.setAttributes(SmbFile.ATTR_HIDDEN | SmbFile.ATTR_ARCHIVE);
        if ((Opener.open(path).getAttributes() & SmbFile.ATTR_HIDDEN) == 0) throw new Exception("not hidden");
    }

    private static void named(String folder, String name) throws Exception {
        put(local[1], folder + name);
        Set<String> wanted = new TreeSet<>();
        wanted.add(name.toLowerCase());
        list(folder, wanted);
        get(folder + name, "named.bin");
        if (new File(fetched, "named.bin").length() != local[1].length()) throw new Exception("another length");
    }
}
