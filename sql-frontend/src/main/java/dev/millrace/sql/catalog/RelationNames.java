package dev.millrace.sql.catalog;

import dev.millrace.sql.text.Identifiers;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * How names of what is in schemas are written down. A statement's name is written with or without a schema. A name of the catalog says
 * by itself what it means: of what is in {@code public} it is the plain name, of all else it begins with the schema and a point, and a schema
 * itself has that alone.
 *
 * <pre>
 *   public.users   users
 *   s1.users       s1.users
 *   schema s1      s1.
 * </pre>
 */
public final class RelationNames {
    /** The schema whose relations have plain names in the catalog. */
    public static final String PUBLIC = "public";

    /** The schema of a session's temporary relations, as its statements call it. */
    public static final String TEMPORARY = "pg_temp";

    /** What the names begin with that temporary relations have in the catalog, each session's with a number behind it. */
    public static final String OF_SESSION = TEMPORARY + "_";

    private static final String POINT = ".";
    private static final String OF_PUBLIC = PUBLIC + POINT;
    private static final Set<String> OF_SYSTEM = Set.of("millrace", "pg_catalog", "information_schema", "rw_catalog");

    private RelationNames() {}

    /** Whether a schema is one of the system's, where users make nothing. */
    public static boolean isOfSystem(String schema) {
        return OF_SYSTEM.contains(schema);
    }

    /** Whether a schema is there without being made. */
    public static boolean isAlwaysThere(String schema) {
        return isOfSystem(schema) || schema.equals(PUBLIC) || schema.equals(TEMPORARY);
    }

    // ---- of the catalog --------------------------------------------------------------------------------------------

    /** The name in the catalog of a schema. */
    public static String ofSchema(String schema) {
        return schema + POINT;
    }

    /** Whether a name of the catalog is that of a schema. */
    public static boolean isSchema(String name) {
        return name.endsWith(POINT);
    }

    /** The name in the catalog of what has a name in a schema. */
    public static String in(String schema, String name) {
        return schema.equals(PUBLIC) ? name : schema + POINT + name;
    }

    /** What a name of the catalog begins with, before its first point; empty where there is none. */
    public static String prefix(String name) {
        int point = name.indexOf('.');
        return point < 0 ? "" : name.substring(0, point);
    }

    /** Whether a name is one of the catalog's for a temporary relation. */
    public static boolean isOfSession(String name) {
        int point = name.indexOf('.');
        return name.startsWith(OF_SESSION)
                && point > OF_SESSION.length()
                && name.substring(OF_SESSION.length(), point).chars().allMatch(c -> c >= '0' && c <= '9');
    }

    /** The name as users know it: without the schema of temporary relations, of a schema without the point. */
    public static String shown(String name) {
        if (isSchema(name)) {
            return name.substring(0, name.length() - 1);
        }
        return isOfSession(name) || isTemporary(name) ? name.substring(name.indexOf('.') + 1) : name;
    }

    /** The name of the catalog as a statement writes it, each part in quotes where it must be. */
    public static String quoted(String name) {
        if (isSchema(name)) {
            return Identifiers.quote(shown(name));
        }
        String prefix = prefix(name);
        return prefix.isEmpty()
                ? Identifiers.quote(name)
                : Identifiers.quote(prefix) + POINT + Identifiers.quote(name.substring(prefix.length() + 1));
    }

    /**
     * Has what is known by names of the catalog be known by others, all at once. What stays is never missing meanwhile.
     *
     * @param names the new ones, by those before; of others nothing becomes
     */
    public static <T> void rename(Map<String, T> all, Map<String, String> names) {
        Map<String, T> moved = new HashMap<>();
        names.forEach((name, newName) -> Optional.ofNullable(all.get(name)).ifPresent(of -> moved.put(newName, of)));
        Set<String> gone = new HashSet<>(names.keySet());
        gone.removeAll(moved.keySet());
        all.putAll(moved);
        all.keySet().removeAll(gone);
    }

    // ---- as statements write them ----------------------------------------------------------------------------------

    /** The parts of a name as one text. */
    public static String written(List<String> parts) {
        return String.join(POINT, parts);
    }

    /** The name in the catalog that a written name has if it means what is in {@code public} where it has no schema. */
    public static String of(List<String> parts) {
        return inCatalog(written(parts));
    }

    /** The same of a name as one text. */
    public static String inCatalog(String written) {
        return written.startsWith(OF_PUBLIC) ? written.substring(OF_PUBLIC.length()) : written;
    }

    /** Whether a statement means a temporary relation of its session by a name. */
    public static boolean isTemporary(String written) {
        return written.startsWith(TEMPORARY + POINT);
    }
}
