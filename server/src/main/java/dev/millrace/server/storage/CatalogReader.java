package dev.millrace.server.storage;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads {@code catalog.log}, and refuses what is not all of what was written: a line that is damaged, missing, there a second
 * time or in another's place, and an end that is gone.
 */
final class CatalogReader {
    static final String TITLE = "millrace-catalog ";
    static final int VERSION = 8;
    private static final int WITHOUT_NUMBERS = 1;
    private static final Pattern VERSION_NUMBER = Pattern.compile(TITLE + "(\\d{1,9})\\s");

    /**
     * What was read.
     *
     * @param version the number of the file's format
     * @param last the number of the last record, or of the one before the first that will come
     * @param end behind the last whole line, in bytes
     * @param tornBytes of a record behind it that was being written when the database ended
     */
    record Contents(int version, List<CatalogRecord> records, long last, int end, int tornBytes) {
        /** Whether its records have numbers, of which {@link CatalogEnd} has the last. */
        boolean isNumbered() {
            return version > WITHOUT_NUMBERS;
        }

        boolean isOld() {
            return version < VERSION;
        }
    }

    private final String file;
    private final byte[] bytes;
    private final List<CatalogRecord> records = new ArrayList<>();
    private int version;
    private long last;
    private int lines;
    private int start;

    private CatalogReader(String file, byte[] bytes) {
        this.file = file;
        this.bytes = bytes;
    }

    /**
     * Reads a whole file.
     *
     * @param answered the number of the last record that is known to have been whole, if that is known
     * @throws MillraceException XX001 for damage, with the line and what to do; F0000 for a later version
     */
    static Contents read(String file, byte[] bytes, OptionalLong answered) {
        return new CatalogReader(file, bytes).read(answered);
    }

    private Contents read(OptionalLong answered) {
        for (int stop = lineFeed(0); stop >= 0; stop = lineFeed(start)) {
            String line = new String(bytes, start, stop - start, StandardCharsets.UTF_8);
            if (lines > 0 && isTorn(line, stop + 1, answered)) {
                break;
            }
            lines++;
            if (lines == 1) {
                title(line);
            } else {
                record(line);
            }
            start = stop + 1;
        }
        if (lines == 0) {
            throw noTitle();
        }
        if (last < answered.orElse(last)) {
            throw endIsGone(answered.getAsLong());
        }
        return new Contents(version, records, last, start, bytes.length - start);
    }

    /**
     * Whether a line was being written when the machine stopped: of a record that nobody had an answer for, parts are there and parts are
     * not, also where its end is. Behind it there is no record, as one is written when the one before is on disk.
     */
    private boolean isTorn(String line, int behind, OptionalLong answered) {
        if (version == WITHOUT_NUMBERS
                || last < answered.orElse(last)
                || NumberedLine.read(line).isPresent()) {
            return false;
        }
        int from = behind;
        for (int stop = lineFeed(from); stop >= 0; stop = lineFeed(from)) {
            if (NumberedLine.read(new String(bytes, from, stop - from, StandardCharsets.UTF_8))
                    .isPresent()) {
                return false;
            }
            from = stop + 1;
        }
        return true;
    }

    private int lineFeed(int from) {
        for (int at = from; at < bytes.length; at++) {
            if (bytes[at] == '\n') {
                return at;
            }
        }
        return -1;
    }

    /** What the first line says, whole or not; 0 where that is no number. */
    static int version(byte[] bytes) {
        String text = new String(bytes, 0, Math.min(bytes.length, TITLE.length() + 12), StandardCharsets.US_ASCII);
        Matcher number = VERSION_NUMBER.matcher(text);
        return number.lookingAt() ? Integer.parseInt(number.group(1)) : 0;
    }

    /** The first line of the file, for records from this number on. */
    static byte[] title(long first) {
        return title(VERSION, first);
    }

    private static byte[] title(int version, long first) {
        String title = TITLE + version + " " + first;
        return (title + " " + NumberedLine.checksum(title) + "\n").getBytes(StandardCharsets.US_ASCII);
    }

    private void title(String line) {
        String[] words = line.startsWith(TITLE) ? line.substring(TITLE.length()).split(" ", -1) : new String[0];
        try {
            version = words.length == 0 ? 0 : Integer.parseInt(words[0]);
            if (version > WITHOUT_NUMBERS && version <= VERSION && words.length == 3) {
                last = Long.parseLong(words[1]) - 1;
            }
        } catch (NumberFormatException e) {
            version = 0;
        }
        if (version > VERSION) {
            throw MillraceException.user(
                            SqlState.CONFIG_FILE_ERROR,
                            file + " is of version " + version + "; this Millrace reads up to " + VERSION)
                    .withHint("a later Millrace wrote it; use that");
        }
        boolean whole = version == WITHOUT_NUMBERS
                ? words.length == 1
                : version > WITHOUT_NUMBERS
                        && line.equals(new String(title(version, last + 1), StandardCharsets.US_ASCII).strip());
        if (!whole) {
            throw noTitle();
        }
    }

    private MillraceException noTitle() {
        return damage(file + " is not a catalog of Millrace, or line 1 is damaged")
                .withHint("restore it from a backup");
    }

    private void record(String line) {
        Optional<NumberedLine> numbered = version == WITHOUT_NUMBERS
                ? NumberedLine.checked(line).map(text -> new NumberedLine(last + 1, text))
                : NumberedLine.read(line);
        if (numbered.isEmpty()) {
            throw damage(place() + ", is not what was written").withHint(cure());
        }
        long number = numbered.get().number();
        if (number != last + 1) {
            throw damage(place() + ", is record " + number + " where record " + (last + 1) + " belongs: "
                            + (number > last
                                    ? missing(last + 1, number - 1)
                                    : "it is there twice, or not in its place"))
                    .withHint(cure());
        }
        try {
            records.add(RecordJson.read(numbered.get().text()));
        } catch (JsonProcessingException e) {
            throw damage(place() + ", cannot be read").withHint(cure());
        }
        last = number;
    }

    private MillraceException endIsGone(long answered) {
        String why = start < bytes.length
                ? place(lines + 1) + ", is cut, and was whole once: "
                : file + " is damaged: it ends behind line " + lines + ", at byte " + bytes.length + ": ";
        return damage(why + missing(last + 1, answered))
                .withHint("restore the file from a backup; or remove " + CatalogEnd.NAME
                        + " beside it, which goes on without what is missing");
    }

    private static String missing(long from, long to) {
        return from == to ? "record " + from + " is missing" : "records " + from + " to " + to + " are missing";
    }

    private String place() {
        return place(lines);
    }

    private String place(int line) {
        return file + " is damaged: line " + line + ", which begins at byte " + start;
    }

    private String cure() {
        String beside = version == WITHOUT_NUMBERS ? "" : " and remove " + CatalogEnd.NAME + " beside it";
        return "restore the file from a backup; or cut it off before that byte" + beside
                + ", which forgets all that came later";
    }

    private static MillraceException damage(String message) {
        return MillraceException.external(SqlState.DATA_CORRUPTED, message);
    }
}
