package dev.millrace.connectors.registry;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/** Files of the server that have schemas. */
public final class SchemaFile {
    private static final int MOST_BYTES = 8 << 20;

    private SchemaFile() {}

    /** All bytes of a file, which has some megabytes at most. */
    public static byte[] read(String path) {
        try (InputStream in = Files.newInputStream(Path.of(path))) {
            byte[] bytes = in.readNBytes(MOST_BYTES + 1);
            if (bytes.length > MOST_BYTES) {
                throw MillraceException.user(
                        SqlState.PROGRAM_LIMIT_EXCEEDED,
                        "file \"" + path + "\" has more than " + MOST_BYTES + " bytes, and is no schema");
            }
            return bytes;
        } catch (IOException | InvalidPathException e) {
            throw MillraceException.user(
                    SqlState.UNDEFINED_FILE, "file \"" + path + "\" of option \"schema_file\" cannot be read: " + e);
        }
    }
}
