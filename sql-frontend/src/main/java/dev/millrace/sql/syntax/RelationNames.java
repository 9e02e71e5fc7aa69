package dev.millrace.sql.syntax;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.util.List;
import java.util.Set;
import org.apache.calcite.sql.SqlIdentifier;

/** How names of relations are written down: dotted, without the schema {@code public}. */
public final class RelationNames {
    private static final String PUBLIC = "public";

    /** The schema of a session's temporary relations, as its statements call it. */
    public static final String TEMPORARY = "pg_temp";

    /** What the names begin with that temporary relations have in the catalog, each session's with a number behind it. */
    public static final String OF_SESSION = TEMPORARY + "_";

    private static final Set<String> SCHEMAS =
            Set.of(PUBLIC, "millrace", "pg_catalog", "information_schema", TEMPORARY);

    private RelationNames() {}

    /** Whether there is a schema of this name: users' relations are in {@code public}. */
    public static boolean isSchema(String name) {
        return SCHEMAS.contains(name);
    }

    /** The name; fails with 3F000 if it has dots and begins with a schema that is not there. */
    public static SqlIdentifier requireSchema(SqlIdentifier name) {
        if (!name.isSimple() && !isSchema(name.names.get(0))) {
            throw MillraceException.user(
                            SqlState.INVALID_SCHEMA_NAME, "schema \"" + name.names.get(0) + "\" does not exist")
                    .at(name.getParserPosition().getColumnNum())
                    .withHint("relations and functions of users are in the schema public");
        }
        return name;
    }

    /** The schema of a relation as it is written down. */
    public static String schemaOf(String name) {
        if (isOfSession(name)) {
            return TEMPORARY;
        }
        int dot = name.indexOf('.');
        return dot < 0 || !isSchema(name.substring(0, dot)) ? PUBLIC : name.substring(0, dot);
    }

    /** Whether a name is one of the catalog's for a temporary relation. */
    public static boolean isOfSession(String name) {
        int point = name.indexOf('.');
        return name.startsWith(OF_SESSION)
                && point > OF_SESSION.length()
                && name.substring(OF_SESSION.length(), point).chars().allMatch(c -> c >= '0' && c <= '9');
    }

    /** Whether a statement means a temporary relation of its session by a name. */
    public static boolean isTemporary(String name) {
        return name.startsWith(TEMPORARY + ".");
    }

    /** The name without the schema of temporary relations, as users know it. */
    public static String shown(String name) {
        return isOfSession(name) || isTemporary(name) ? name.substring(name.indexOf('.') + 1) : name;
    }

    public static String of(List<String> parts) {
        return parts.size() > 1 && parts.get(0).equals(PUBLIC)
                ? String.join(".", parts.subList(1, parts.size()))
                : String.join(".", parts);
    }
}
