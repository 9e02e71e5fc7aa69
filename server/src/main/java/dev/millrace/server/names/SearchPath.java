package dev.millrace.server.names;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.permission.Identity;
import dev.millrace.server.settings.SessionSettings;
import dev.millrace.server.settings.Setting;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.statement.Privilege;
import dev.millrace.sql.statement.Securable;
import dev.millrace.sql.statement.Statement.ObjectKind;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * What written names mean to a session: those without a schema are looked for among its temporary relations, then in the schemas of its
 * setting {@code search_path}, one after the other; what is made without a schema is in the first of these. A schema in which the role may
 * use nothing is passed over, as is one that is not there.
 *
 * <p>A text that is kept is in the catalog's names ({@link RelationNames}), and is read literally: a name without a schema means what is in
 * {@code public}. Belongs to the session's thread, and to those that analyse its statements.
 */
public final class SearchPath {
    /** What {@code current_schemas} and names of relations as values are made of. */
    static final String FUNCTION = "millrace_search_path";

    private static final List<String> ONLY_PUBLIC = List.of(RelationNames.PUBLIC);
    private static final String OF_ROLE = "$user";

    /** A name of the setting, in quotes or without, between commas; what is none may be anything. */
    private static final Pattern NAME = Pattern.compile("\"((?:[^\"]|\"\")*)\"|([^\\s,\"]+)");

    private static final int MOST_PATHS = 1 << 16; // that versions tell apart

    private final DatabaseCatalog catalog;
    private final SessionSettings settings;
    private final Identity identity;
    private final TemporaryRelations temporaries;
    private final Predicate<String> sees;
    private volatile boolean literal; // written before the first statement, read by those
    private volatile Found found =
            new Found("", "", Set.of(), new Object(), ONLY_PUBLIC, 0); // written by who finds another one

    /**
     * The schemas that are looked in, and what they depend on.
     *
     * @param number another one than of the schemas before
     */
    private record Found(
            String setting, String role, Set<String> schemas, Object roles, List<String> path, int number) {}

    /**
     * @param temporaries the session's own
     * @param sees whether what has a name in the catalog is there for the session; waits for what another has altered or dropped
     */
    public SearchPath(
            DatabaseCatalog catalog,
            SessionSettings settings,
            Identity identity,
            TemporaryRelations temporaries,
            Predicate<String> sees) {
        this.catalog = catalog;
        this.settings = settings;
        this.identity = identity;
        this.temporaries = temporaries;
        this.sees = sees;
    }

    /** From here on all texts are in the catalog's names: of a session that makes again what is kept. */
    public void readLiterally() {
        literal = true;
    }

    /** Of texts in the catalog's names. */
    public SearchPath literal() {
        SearchPath path = new SearchPath(catalog, settings, identity, temporaries, sees);
        path.readLiterally();
        return path;
    }

    /** The session's temporary relations. */
    public TemporaryRelations temporaries() {
        return temporaries;
    }

    /** Whether names mean to the session what they mean in texts that are kept. */
    public boolean isPlain() {
        return literal || !temporaries.areUsed() && isOfPublicAlone();
    }

    /** Whether names without a schema are looked for in {@code public} alone, but for temporary ones. */
    public boolean isOfPublicAlone() {
        return schemas().equals(ONLY_PUBLIC);
    }

    /** Another number whenever names may mean something else to the session than before: the catalog is another, or the schemas are. */
    public long version() {
        return catalog.version() * MOST_PATHS + (literal ? 0 : found().number);
    }

    // ---- the setting -----------------------------------------------------------------------------------------------

    /** The schemas that are looked in, in this order, without those of temporary relations and {@code pg_catalog} if it is not said. */
    public List<String> schemas() {
        return literal ? ONLY_PUBLIC : found().path;
    }

    private Found found() {
        String setting = settings.get(Setting.SEARCH_PATH);
        String role = identity.current();
        Set<String> schemas = catalog.schemas();
        Object roles = catalog.roles().version();
        Found known = found;
        boolean isStill = known.schemas == schemas
                && known.roles == roles
                && known.setting.equals(setting)
                && known.role.equals(role);
        if (!isStill) {
            List<String> now = said(setting, role).stream()
                    .filter(schema -> isThere(schema) && mayUse(schema))
                    .toList();
            int number = now.equals(known.path) ? known.number : (known.number + 1) % MOST_PATHS;
            known = new Found(setting, role, schemas, roles, now, number);
            found = known;
        }
        return known;
    }

    /** The schemas that the setting says, each once, whether or not they are there. */
    public Set<String> said() {
        return said(settings.get(Setting.SEARCH_PATH), identity.current());
    }

    private static Set<String> said(String setting, String role) {
        Set<String> said = new LinkedHashSet<>();
        Matcher names = NAME.matcher(setting);
        while (names.find()) {
            String quoted = names.group(1);
            String written = quoted == null ? names.group(2).toLowerCase(Locale.ROOT) : quoted.replace("\"\"", "\"");
            String name = written.equals(OF_ROLE) ? role : written;
            if (!written.equals(OF_ROLE) || !RelationNames.isAlwaysThere(name)) {
                said.add(name);
            }
        }
        return said;
    }

    private boolean isThere(String schema) {
        return !schema.equals(RelationNames.TEMPORARY)
                && sees.test(RelationNames.ofSchema(schema))
                && catalog.isSchema(schema);
    }

    private boolean mayUse(String schema) {
        return identity.isSuperuser()
                || catalog.roles()
                        .has(identity.current(), Privilege.USAGE, new Securable(Securable.Kind.SCHEMA, schema));
    }

    /** {@code current_schema()}: where what has no schema in its name is made. */
    public Optional<String> current() {
        return schemas().stream().findFirst();
    }

    /** The schemas as text: {@code path} as names, {@code all} as an array, {@code said} as one of those that are said. */
    String text(String form) {
        List<String> all = new ArrayList<>(schemas());
        if (!form.equals("said") && !all.contains("pg_catalog")) {
            all.add(form.equals("path") ? all.size() : 0, "pg_catalog"); // of one name, users' go before the system's
        }
        String names =
                all.stream().map(name -> '"' + name.replace("\"", "\"\"") + '"').collect(Collectors.joining(","));
        return form.equals("path") ? names : "{" + names + "}";
    }

    // ---- names -----------------------------------------------------------------------------------------------------

    /** The name in the catalog of what a written name means, if there is such. */
    public Optional<String> find(String written) {
        return find(written, name -> catalog.object(name).isPresent());
    }

    /** The same of one of a kind, if there is one, or else of any. */
    public Optional<String> find(ObjectKind kind, String written) {
        return find(
                        written,
                        name -> catalog.object(name)
                                .filter(object -> object.kind() == kind)
                                .isPresent())
                .or(() -> find(written));
    }

    /** The name in the catalog of what a written name means, among those that are there and seen. */
    Optional<String> find(String written, Predicate<String> isThere) {
        Predicate<String> isMeant = name -> sees.test(name) && isThere.test(name);
        if (literal) {
            return Optional.of(RelationNames.inCatalog(written)).filter(isMeant);
        }
        String name = withoutDatabase(written);
        Optional<String> temporary = temporaries.find(name).filter(isMeant);
        if (temporary.isPresent() || RelationNames.isTemporary(name)) {
            return temporary;
        }
        if (isQualified(name)) {
            return Optional.of(RelationNames.inCatalog(name)).filter(isMeant);
        }
        for (String schema : schemas()) {
            Optional<String> inSchema =
                    Optional.of(RelationNames.in(schema, name)).filter(isMeant);
            if (inSchema.isPresent()) {
                return inSchema;
            }
        }
        return Optional.empty();
    }

    /**
     * The name in the catalog of what a statement means that may not be there: then it is one that nothing has, which the statement is
     * told of.
     *
     * @throws MillraceException 3F000 for a schema that is not there
     */
    public String meant(ObjectKind kind, String written) {
        return find(kind, written).orElseGet(() -> missing(written));
    }

    /** The same of any kind. */
    public String meant(String written) {
        return find(written).orElseGet(() -> missing(written));
    }

    private String missing(String written) {
        String name = withoutDatabase(written);
        String schema = RelationNames.prefix(name);
        if (schema.isEmpty() && !schemas().contains(RelationNames.PUBLIC)) {
            return RelationNames.in(current().orElse(RelationNames.TEMPORARY), name);
        }
        if (!literal && !schema.isEmpty() && catalog.object(name).isEmpty()) {
            requireSchema(schema);
        }
        return RelationNames.inCatalog(name);
    }

    /**
     * The name in the catalog of what is to be made.
     *
     * @param parts of its name as it is written
     * @throws MillraceException 3F000 if its schema is not there, or none is there to be made in
     */
    public String nameNew(List<String> parts) {
        if (literal) { // texts of former versions may say the database
            return RelationNames.of(parts.size() == 3 ? parts.subList(1, 3) : parts);
        }
        if (parts.size() == 1 && parts.get(0).indexOf('.') >= 0) {
            throw MillraceException.user(
                    SqlState.INVALID_NAME,
                    "\"" + parts.get(0) + "\" cannot be the name of something new: it has a point");
        }
        String name = withoutDatabase(RelationNames.written(parts));
        String schema = parts.size() > 1 ? RelationNames.prefix(name) : "";
        if (schema.isEmpty()) {
            return RelationNames.in(
                    current()
                            .orElseThrow(() -> MillraceException.user(
                                            SqlState.INVALID_SCHEMA_NAME, "no schema has been selected to create in")
                                    .withHint("SET search_path TO public, or the name with a schema")),
                    name);
        }
        if (RelationNames.inCatalog(name).indexOf('.')
                != RelationNames.inCatalog(name).lastIndexOf('.')) {
            throw MillraceException.user(
                    SqlState.FEATURE_NOT_SUPPORTED,
                    "cross-database references are not implemented: \"" + RelationNames.written(parts) + "\"");
        }
        requireSchema(schema);
        return RelationNames.inCatalog(name);
    }

    private void requireSchema(String schema) {
        if (!catalog.isSchema(schema)) {
            throw DatabaseCatalog.undefinedSchema(schema);
        }
    }

    private boolean isQualified(String name) {
        String prefix = RelationNames.prefix(name);
        return !prefix.isEmpty() && (catalog.isSchema(prefix) || RelationNames.isOfSession(name));
    }

    /** Whether names in a text may begin with that of the database, which they are kept without. */
    public boolean maySayDatabase(String text) {
        String database = settings.get(Setting.DATABASE);
        return text.contains(database + ".") || text.contains(database + "\".");
    }

    /** A name of three parts without the first, if that is the database. */
    private String withoutDatabase(String written) {
        String database = settings.get(Setting.DATABASE);
        String rest = written.startsWith(database + ".") ? written.substring(database.length() + 1) : "";
        return isQualified(rest) ? rest : written;
    }
}
