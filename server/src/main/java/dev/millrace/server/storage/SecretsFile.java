package dev.millrace.server.storage;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.DiskErrors;
import dev.millrace.storage.disk.WholeFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The file {@code secrets}, which nobody but its owner can read and which is written whole. Two lines: {@code millrace-secrets 2}, and a record's
 * line, of which the number is how often the file was written, and the text a JSON object: {@code identity} as of the log of rows when it was
 * written first, in hexadecimal digits, and {@code secrets}, name to text. Definitions know both numbers ({@link KnownLog}), so that a file that is gone, of another
 * database or older is not taken for it. In version 1 the text was an object of the secrets alone, and the number 1.
 */
public final class SecretsFile {
    public static final String NAME = "secrets";

    /** A file by which a user says that the secrets are lost, and the database is to go on without them. */
    static final String GIVEN_UP = "secrets.given-up";

    private static final String HEADER = "millrace-secrets ";
    private static final int VERSION = 2;
    private static final int MOST_BYTES = 16 << 20;
    private static final ObjectMapper MAPPER = new ObjectMapper();

    /**
     * What is in it.
     *
     * @param known which file it is; none of one that has to be written anew
     * @param texts by the names of secrets
     */
    public record Contents(Optional<KnownLog> known, Map<String, String> texts) {
        public Contents {
            texts = Map.copyOf(texts);
        }
    }

    private SecretsFile() {}

    /**
     * All secrets; none where there is no file.
     *
     * @throws MillraceException XX001 if it is damaged, F0000 if it is of a later version
     */
    public static Optional<Contents> read(Disk disk) throws IOException {
        if (!disk.has(NAME)) {
            return Optional.empty();
        }
        ByteBuffer bytes = WholeFile.read(disk, NAME, MOST_BYTES);
        String[] lines = StandardCharsets.UTF_8.decode(bytes).toString().split("\n", -1);
        boolean isOld = lines[0].equals(HEADER + 1);
        if (lines.length == 3 && lines[0].startsWith(HEADER) && !isOld && !lines[0].equals(HEADER + VERSION)) {
            throw MillraceException.user(
                    SqlState.CONFIG_FILE_ERROR,
                    disk.path(NAME) + " is of version " + lines[0].substring(HEADER.length())
                            + ", and this program reads version " + VERSION);
        }
        if (lines.length != 3 || !isOld && !lines[0].equals(HEADER + VERSION) || !lines[2].isEmpty()) {
            throw damaged(disk, "its checksum does not hold");
        }
        NumberedLine line = NumberedLine.read(lines[1]).orElseThrow(() -> damaged(disk, "its checksum does not hold"));
        try {
            JsonNode root = MAPPER.readTree(line.text());
            Map<String, String> texts = new TreeMap<>();
            (isOld ? root : root.path("secrets"))
                    .fields()
                    .forEachRemaining(secret ->
                            texts.put(secret.getKey(), secret.getValue().asText()));
            return Optional.of(new Contents(
                    isOld
                            ? Optional.empty()
                            : Optional.of(new KnownLog(
                                    Long.parseUnsignedLong(root.path("identity").asText("0"), 16), line.number())),
                    texts));
        } catch (JsonProcessingException | NumberFormatException e) {
            throw damaged(disk, "it is not what is written there");
        }
    }

    /** What is wrong with the file that a directory has, or has not, by what definitions know; nothing where they know of none. */
    public static Optional<String> misfit(Disk disk, Optional<Contents> found, Optional<KnownLog> known)
            throws IOException {
        if (known.isEmpty() || disk.has(GIVEN_UP)) {
            return Optional.empty();
        }
        String path = disk.path(NAME);
        if (found.isEmpty()) {
            return Optional.of(path + " is missing: there were secrets in it");
        }
        Optional<KnownLog> there = found.get().known();
        if (there.isEmpty()
                || there.get().identity() == known.get().identity()
                        && there.get().last() < known.get().last()) {
            return Optional.of(path + " is an older copy");
        }
        return there.get().identity() == known.get().identity()
                ? Optional.empty()
                : Optional.of(path + " is of another database");
    }

    /** How a user goes on whose file is not what it was. */
    static String cure(Disk disk) {
        return "put it back from a copy; or, to go on without the secrets that were in it, make a file "
                + disk.path(GIVEN_UP);
    }

    private static MillraceException damaged(Disk disk, String what) {
        return DiskErrors.damaged(disk.path(NAME), 0, what).withHint(cure(disk));
    }

    /** Writes all secrets; they last when this returns. */
    static void write(Disk disk, KnownLog known, Map<String, String> secrets) throws IOException {
        ObjectNode root = MAPPER.createObjectNode().put("identity", Long.toHexString(known.identity()));
        root.set("secrets", MAPPER.valueToTree(new TreeMap<>(secrets)));
        byte[] line = NumberedLine.write(known.last(), MAPPER.writeValueAsString(root));
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
