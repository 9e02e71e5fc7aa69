package dev.millrace.connectors.directory;

import java.nio.file.Path;
import java.util.OptionalLong;

/**
 * Names of files.
 *
 * @param tag that no other sink has which writes to the same directory
 */
record PartName(String tag, String extension) {
    private static final String HIDDEN = ".open";

    /** Of a file that readers see. */
    String shown(long number) {
        return "part-" + tag + "-" + String.format("%08d", number) + "." + extension;
    }

    /** Of the same before that. */
    String hidden(long number) {
        return "." + shown(number) + HIDDEN;
    }

    /** Whether a path is that of a file of this sink that readers see, or will. */
    boolean isShown(String path) {
        String name = path.substring(path.lastIndexOf('/') + 1);
        return name.startsWith("part-" + tag + "-") && name.endsWith("." + extension);
    }

    /** The number of a hidden file of this sink; none of any other file. */
    OptionalLong number(Path file) {
        String name = String.valueOf(file.getFileName());
        String before = ".part-" + tag + "-";
        String after = "." + extension + HIDDEN;
        if (!name.startsWith(before) || !name.endsWith(after) || name.length() <= before.length() + after.length()) {
            return OptionalLong.empty();
        }
        String digits = name.substring(before.length(), name.length() - after.length());
        return digits.chars().allMatch(Character::isDigit) && digits.length() < 19
                ? OptionalLong.of(Long.parseLong(digits))
                : OptionalLong.empty();
    }
}
