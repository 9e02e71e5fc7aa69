package dev.millrace.server.storage;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Optional;
import java.util.zip.CRC32C;

/** A line that says what number it has: the CRC-32C of the rest in eight hexadecimal digits, the number, and a text. */
record NumberedLine(long number, String text) {
    private static final int CHECKSUM_DIGITS = 8;

    /** @return empty for a line that is not what was written */
    static Optional<NumberedLine> read(String line) {
        Optional<String> rest = checked(line);
        int space = rest.map(it -> it.indexOf(' ')).orElse(-1);
        if (space < 0) {
            return Optional.empty();
        }
        try {
            long number = Long.parseLong(rest.get().substring(0, space));
            return Optional.of(new NumberedLine(number, rest.get().substring(space + 1)));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    /** What follows the checksum, if that holds. */
    static Optional<String> checked(String line) {
        String rest = line.substring(Math.min(line.length(), CHECKSUM_DIGITS + 1));
        return line.startsWith(checksum(rest) + " ") ? Optional.of(rest) : Optional.empty();
    }

    /** The line with its line feed. */
    static byte[] write(long number, String text) {
        String rest = number + " " + text;
        return (checksum(rest) + " " + rest + "\n").getBytes(StandardCharsets.UTF_8);
    }

    static String checksum(String text) {
        CRC32C crc = new CRC32C();
        crc.update(text.getBytes(StandardCharsets.UTF_8));
        return HexFormat.of().toHexDigits((int) crc.getValue());
    }
}
