package dev.millrace.storage.disk;

import java.util.List;

/**
 * What reading every byte of a file found.
 *
 * @param name in its directory
 * @param bytes its length; 0 for a file that is missing
 * @param contents what is in it, in a few words
 * @param known whether it is a file of ours
 * @param damage one line for each, naming the file and the place; none of a file that is whole
 * @param notices what is no damage, and of interest, as what damage elsewhere makes of it
 */
public record FileReport(
        String name, long bytes, String contents, boolean known, List<String> damage, List<String> notices) {
    public FileReport {
        damage = List.copyOf(damage);
        notices = List.copyOf(notices);
    }

    /** A file that is whole, as far as its bytes say so. */
    public static FileReport whole(String name, long bytes, String contents) {
        return new FileReport(name, bytes, contents, true, List.of(), List.of());
    }

    /** A file that is damaged or missing. */
    public static FileReport damaged(String name, long bytes, String contents, String damage) {
        return new FileReport(name, bytes, contents, true, List.of(damage), List.of());
    }

    /** A file that nobody here has written. */
    public static FileReport unknown(String name, long bytes) {
        return new FileReport(name, bytes, "no file of Millrace's", false, List.of(), List.of());
    }

    /** The same of a file that lies in a directory. */
    public FileReport in(String directory) {
        return new FileReport(directory + "/" + name, bytes, contents, known, damage, notices);
    }

    public boolean isWhole() {
        return damage.isEmpty();
    }
}
