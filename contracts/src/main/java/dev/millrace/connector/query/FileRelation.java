package dev.millrace.connector.query;

import dev.millrace.connector.Source;
import java.util.List;
import java.util.Map;

/**
 * Files in FROM as they were found: the source that reads them is the same for as long as the statement is executed, whatever becomes of the
 * files meanwhile.
 *
 * @param text the call with all that was found out, as a statement could say it
 * @param source bounded, with the columns that were found
 * @param leavesOut whether records that become no rows are left out; else they are an error
 * @param options of the source {@code file} that reads the same, by name
 * @param remarks sentences for whoever asks: what was decided without being sure
 */
public record FileRelation(
        String text, Source source, boolean leavesOut, Map<String, String> options, List<String> remarks) {
    /** What the names begin with under which queries read files; no relation can have one. */
    private static final String PREFIX = "millrace.";

    public FileRelation {
        options = Map.copyOf(options);
        remarks = List.copyOf(remarks);
    }

    /** The name under which a query's algebra and plan read it. */
    public String name() {
        return PREFIX + text;
    }

    /** A name of a plan as users know it: of files what says how they are read. */
    public static String shown(String relation) {
        return isName(relation) ? relation.substring(PREFIX.length()) : relation;
    }

    /** Whether a name is that of files in FROM. */
    public static boolean isName(String relation) {
        return relation.startsWith(PREFIX) && relation.endsWith(")");
    }
}
