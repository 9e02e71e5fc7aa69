package dev.millrace.server.storage;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.DiskErrors;
import dev.millrace.storage.disk.WholeFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;

/**
 * The file {@code secrets}, which nobody but its owner can read and which is written whole. Two lines: {@code millrace-secrets 1}, and a record's line
 * with the number 1, of which the text is a JSON object, name to text.
 */
public final class SecretsFile {
    public static final String NAME = "secrets";
    private static final String HEADER = "millrace-secrets ";
    private static final int VERSION = 1;
    private static final int MOST_BYTES = 16 << 20;
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private SecretsFile() {}

    /**
     * All secrets; none where there is no file.
     *
     * @throws MillraceException XX001 if it is damaged, F0000 if it is of a later version
     */
    public static Map<String, String> read(Disk disk) throws IOException {
        if (!disk.has(NAME)) {
            return Map.of();
        }
        ByteBuffer bytes = WholeFile.read(disk, NAME, MOST_BYTES);
        String[] lines = StandardCharsets.UTF_8.decode(bytes).toString().split("\n", -1);
        if (lines.length == 3 && lines[0].startsWith(HEADER) && !lines[0].equals(HEADER + VERSION)) {
            throw MillraceException.user(
                    SqlState.CONFIG_FILE_ERROR,
                    disk.path(NAME) + " is of version " + lines[0].substring(HEADER.length())
                            + ", and this program reads version " + VERSION);
        }
        if (lines.length != 3 || !lines[0].equals(HEADER + VERSION) || !lines[2].isEmpty()) {
            throw damaged(disk);
        }
        NumberedLine line = NumberedLine.read(lines[1]).orElseThrow(() -> damaged(disk));
        try {
            return MAPPER.readValue(line.text(), new TypeReference<TreeMap<String, String>>() {});
        } catch (JsonProcessingException e) {
            throw damaged(disk);
        }
    }

    private static MillraceException damaged(Disk disk) {
        return DiskErrors.damaged(disk.path(NAME), 0, "its checksum does not hold")
                .withHint("put it back from a copy; or remove it, and CREATE the secrets again");
    }

    /** Writes all secrets; they last when this returns. */
    static void write(Disk disk, Map<String, String> secrets) throws IOException {
        byte[] line = NumberedLine.write(1, MAPPER.writeValueAsString(new TreeMap<>(secrets)));
        byte[] header = (HEADER + VERSION + "\n").getBytes(StandardCharsets.UTF_8);
        if (line.length > MOST_BYTES - header.length) {
            throw MillraceException.user(
                    SqlState.PROGRAM_LIMIT_EXCEEDED, "all secrets together have more than " + MOST_BYTES + " bytes");
        }
        WholeFile.write(
                disk,
                NAME,
                ByteBuffer.allocate(header.length + line.length)
                        .put(header)
                        .put(line)
                        .flip());
    }
}
