package dev.millrace.server.operation;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.storage.DataDirectory;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.DiskErrors;
import dev.millrace.storage.disk.WholeFile;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What is in a backup, as {@code server.backup} describes its file. Immutable.
 *
 * @param asOfMicros of which moment it is, in microseconds since 1970 UTC
 */
public record BackupList(long asOfMicros, List<Entry> entries) {
    public static final String NAME = DataDirectory.BACKUP_LIST;
    private static final int VERSION = 1;
    private static final int MOST_BYTES = 1 << 30;
    private static final String TITLE = "millrace-backup ";
    private static final Pattern HEAD = Pattern.compile(TITLE + "([0-9]{1,9})");
    private static final Pattern AS_OF = Pattern.compile("as-of (-?[0-9]{1,18})");
    private static final Pattern LINE =
            Pattern.compile("([0-9a-f]{64}) ([0-9]{1,18}) ((?:[\\w-][\\w.-]*/){0,4}[\\w-][\\w.-]*)");
    private static final String END = "end ";
    private static final int END_BYTES = END.length() + 64 + 1;

    /** A file. @param name from the directory on, by {@code /} */
    public record Entry(String sha256, long bytes, String name) {}

    public BackupList {
        entries = List.copyOf(entries);
    }

    /** Of all files. */
    public long bytes() {
        return entries.stream().mapToLong(Entry::bytes).sum();
    }

    /** What counts the checksum of a file. */
    public static MessageDigest digest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw MillraceException.internal("no SHA-256", e); // every Java has it
        }
    }

    /** The checksum of what was put in, as the list has it. */
    public static String text(MessageDigest digest) {
        return HexFormat.of().formatHex(digest.digest());
    }

    /** All of the file. */
    public ByteBuffer write() {
        StringBuilder text = new StringBuilder(TITLE + VERSION + "\nas-of " + asOfMicros + "\n");
        for (Entry entry : entries) {
            text.append(entry.sha256()).append(' ').append(entry.bytes()).append(' ');
            text.append(entry.name()).append('\n');
        }
        String checksum = sha256(text.toString());
        text.append(END).append(checksum).append('\n');
        return ByteBuffer.wrap(text.toString().getBytes(StandardCharsets.US_ASCII));
    }

    private static String sha256(String text) {
        MessageDigest digest = digest();
        digest.update(text.getBytes(StandardCharsets.ISO_8859_1));
        return text(digest);
    }

    /**
     * Reads every file of a backup.
     *
     * @return one line for each that is missing or not what was written
     */
    List<String> verify(Path backup) throws IOException {
        List<String> damage = new ArrayList<>();
        for (Entry entry : entries) {
            Path file = backup.resolve(entry.name());
            if (!Files.isRegularFile(file)) {
                damage.add(file + " is missing: it is in the list of the backup");
            } else if (!sha256(file).equals(entry.sha256())) {
                damage.add(file + " is damaged: its SHA-256 is not that in the list of the backup");
            }
        }
        return damage;
    }

    private static String sha256(Path file) throws IOException {
        MessageDigest digest = digest();
        byte[] piece = new byte[1 << 16];
        try (InputStream in = Files.newInputStream(file)) {
            for (int read = in.read(piece); read >= 0; read = in.read(piece)) {
                digest.update(piece, 0, read);
            }
        }
        return text(digest);
    }

    /**
     * Reads that of a backup, which must have one.
     *
     * @throws MillraceException XX001 if it is damaged, F0000 if it is of a later version
     */
    public static BackupList read(Disk disk) throws IOException {
        String path = disk.path(NAME);
        ByteBuffer bytes = WholeFile.read(disk, NAME, MOST_BYTES);
        String text = StandardCharsets.ISO_8859_1.decode(bytes).toString();
        List<String> lines = text.lines().toList();
        Matcher head = HEAD.matcher(lines.isEmpty() ? "" : lines.get(0));
        DiskErrors.require(head.matches(), path, 0, "it is no list of a backup");
        int version = Integer.parseInt(head.group(1));
        if (version > VERSION) {
            throw DiskErrors.tooNew(path, version, VERSION);
        }
        int end = text.length() - END_BYTES;
        boolean isWhole = end > 0 && text.substring(end).equals(END + sha256(text.substring(0, end)) + "\n");
        DiskErrors.require(isWhole, path, Math.max(0, end), "its checksum does not fit");
        Matcher asOf = AS_OF.matcher(lines.get(1));
        DiskErrors.require(asOf.matches(), path, lines.get(0).length() + 1L, "it does not say of when it is");
        List<Entry> entries = new ArrayList<>();
        for (String line : lines.subList(2, lines.size() - 1)) {
            Matcher entry = LINE.matcher(line);
            if (!entry.matches()) {
                throw MillraceException.external(
                        SqlState.DATA_CORRUPTED, path + " is damaged: it has a line that names no file: " + line);
            }
            entries.add(new Entry(entry.group(1), Long.parseLong(entry.group(2)), entry.group(3)));
        }
        return new BackupList(Long.parseLong(asOf.group(1)), entries);
    }
}
