package dev.millrace.server.pgcatalog;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.function.FunctionCatalog;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.role.Language;
import dev.millrace.server.role.Role;
import dev.millrace.server.role.Roles;
import dev.millrace.server.settings.Setting;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.statement.Privilege;
import dev.millrace.sql.statement.Securable;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexer;
import dev.millrace.type.Schema;
import dev.millrace.udf.ScalarFunction;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What {@code has_table_privilege} and its kin are short for: {@code privilege_holds(kind, current role, arguments..)}, whose
 * arguments are texts of names or numbers. The last is a list of privileges, one of which is enough; NULL is the answer about
 * what has no number. Safe on any thread.
 */
final class PrivilegeQuestions implements ScalarFunction {
    static final String NAME = "privilege_holds";

    /** What is asked, by whom, and up to four of the question's own. */
    static final int ARGUMENTS = 6;

    private static final String WITH_GRANT = " WITH GRANT OPTION";
    private static final String WITH_ADMIN = " WITH ADMIN OPTION";
    private static final Set<Privilege> OF_COLUMNS =
            EnumSet.of(Privilege.SELECT, Privilege.INSERT, Privilege.UPDATE, Privilege.REFERENCES);
    private static final Set<Privilege> OF_SEQUENCES = EnumSet.of(Privilege.USAGE, Privilege.SELECT, Privilege.UPDATE);

    private final DatabaseCatalog catalog;
    private final Roles roles;
    private final Oids oids;

    PrivilegeQuestions(DatabaseCatalog catalog, Oids oids) {
        this.catalog = catalog;
        this.roles = catalog.roles();
        this.oids = oids;
    }

    /** One of the privileges that are asked for. */
    private record Wanted(Privilege privilege, boolean grantable) {}

    @Override
    public @Nullable Object call(Object[] values) {
        String kind = (String) values[0];
        int parts = kind.equals("column") ? 3 : 2;
        int given = values.length - 2;
        while (given > 0 && values[given + 1] == null) {
            given--;
        }
        if (given < parts) {
            return null; // NULL for one of them
        }
        boolean named = given > parts;
        String[] texts = new String[parts];
        for (int i = 0; i < parts; i++) {
            Object text = values[2 + i + (named ? 1 : 0)];
            if (text == null) {
                return null;
            }
            texts[i] = (String) text;
        }
        if (named && values[2] == null) {
            return null;
        }
        String role = named ? role((String) values[2], true) : (String) values[1];
        String privileges = texts[parts - 1];
        return switch (kind) {
            case "role" -> membership(role, role(texts[0], false), privileges);
            case "table" ->
                relation(texts[0])
                        .map(name -> onRelation(role, name, wanted(privileges, Securable.Kind.RELATION.privileges())))
                        .orElse(null);
            case "any_column" ->
                relation(texts[0])
                        .map(name -> onRelation(role, name, wanted(privileges, OF_COLUMNS)))
                        .orElse(null);
            case "column" ->
                relation(texts[0])
                        .flatMap(name -> column(name, texts[1]))
                        .map(name -> onRelation(role, name, wanted(privileges, OF_COLUMNS)))
                        .orElse(null);
            case "sequence" -> sequence(texts[0], privileges);
            case "schema" -> on(role, Securable.Kind.SCHEMA, schema(texts[0]), privileges);
            case "database" -> on(role, Securable.Kind.DATABASE, database(texts[0]), privileges);
            case "language" -> on(role, Securable.Kind.LANGUAGE, language(texts[0]), privileges);
            case "function" -> function(role, texts[0], privileges);
            case "found relation" -> found(texts[0], texts[1], SqlState.UNDEFINED_TABLE, "relation");
            case "found type" -> found(texts[0], texts[1], SqlState.UNDEFINED_OBJECT, "type");
            case "found schema" -> found(texts[0], texts[1], SqlState.INVALID_SCHEMA_NAME, "schema");
            case "found role" -> found(texts[0], texts[1], SqlState.UNDEFINED_OBJECT, "role");
            case "found function" -> found(texts[0], texts[1], SqlState.UNDEFINED_FUNCTION, "function");
            case "found procedure" -> found(withTypes(texts[0]), texts[1], SqlState.UNDEFINED_FUNCTION, "function");
            case "found operator" -> foundOperator(texts[0], texts[1]);
            case "found operator of types" -> foundOperator(withTypes(texts[0]), texts[1]);
            default -> true; // types and tablespaces, which are everybody's
        };
    }

    /** For {@code 'name'::regclass}: what has no such name is an error, but for a number, which is one anyway. */
    private boolean found(String text, String number, SqlState missing, String kind) {
        List<String> parts = text.contains(".") ? parts(text) : List.of();
        boolean schema = parts.size() < 2 || catalog.isSchema(parts.get(parts.size() - 2));
        if (!isNumber(text) && (number.isEmpty() || !schema)) {
            throw MillraceException.user(missing, kind + " \"" + text + "\" does not exist");
        }
        return true;
    }

    private static boolean foundOperator(String text, String number) {
        if (!isNumber(text) && number.isEmpty()) {
            throw MillraceException.user(SqlState.UNDEFINED_FUNCTION, "operator does not exist: " + text);
        }
        return true;
    }

    /** A function or operator with the types of its arguments, as {@code 'abs(integer)'::regprocedure} wants it. */
    private static String withTypes(String text) {
        if (!isNumber(text) && text.indexOf('(') < 0) {
            throw MillraceException.user(SqlState.INVALID_TEXT_REPRESENTATION, "expected a left parenthesis");
        }
        return text;
    }

    // ---- names -----------------------------------------------------------------------------------------------------

    private static boolean isNumber(String text) {
        return !text.isEmpty() && text.length() < 10 && text.chars().allMatch(c -> c >= '0' && c <= '9');
    }

    /** A role's name; PUBLIC, where it can be meant, has the name of nobody. */
    private String role(String text, boolean orPublic) {
        if (orPublic && text.equals("public")) {
            return "";
        }
        if (isNumber(text)) {
            int id = Integer.parseInt(text);
            return roles.all().stream()
                    .filter(role -> role.id() == id)
                    .map(Role::name)
                    .findFirst()
                    .orElse("");
        }
        return roles.require(text).name();
    }

    private static List<String> parts(String name) {
        return Lexer.tokens(name).stream()
                .filter(Lexeme::isName)
                .map(Lexeme::text)
                .toList();
    }

    /** The catalog's name of a relation; none for a number that nothing has. */
    private Optional<String> relation(String text) {
        Optional<String> name = isNumber(text)
                ? oids.name(Integer.parseInt(text)).map(RelationNames::inCatalog)
                : Optional.of(parts(text))
                        .filter(parts -> parts.size() != 1 || !parts.get(0).contains(".")) // none has a dot in it
                        .map(RelationNames::of);
        Optional<String> found = name.flatMap(this::known);
        if (found.isEmpty() && !isNumber(text)) {
            String shown = String.join(".", parts(text));
            throw MillraceException.user(SqlState.UNDEFINED_TABLE, "relation \"" + shown + "\" does not exist");
        }
        return found;
    }

    private Optional<String> known(String name) {
        if (catalog.object(name)
                        .filter(object -> object.kind() != ObjectKind.FUNCTION)
                        .isPresent()
                || catalog.systemRelation(name).isPresent()) {
            return Optional.of(name);
        }
        return Optional.of("pg_catalog." + name)
                .filter(system -> catalog.systemRelation(system).isPresent());
    }

    /** The relation again, if it has the column. */
    private Optional<String> column(String relation, String column) {
        Schema schema = catalog.object(relation)
                .map(CatalogObject::schema)
                .orElseGet(() -> catalog.systemRelation(relation).orElseThrow().schema());
        if (isNumber(column)) {
            int number = Integer.parseInt(column);
            return number >= 1 && number <= schema.size() ? Optional.of(relation) : Optional.empty();
        }
        if (!schema.names().contains(column)) {
            throw MillraceException.user(
                    SqlState.UNDEFINED_COLUMN,
                    "column \"" + column + "\" of relation \"" + relation + "\" does not exist");
        }
        return Optional.of(relation);
    }

    private Optional<String> schema(String text) {
        if (isNumber(text)) {
            return oids.schema(Integer.parseInt(text));
        }
        if (!catalog.isSchema(text)) {
            throw DatabaseCatalog.undefinedSchema(text);
        }
        return Optional.of(text);
    }

    private static Optional<String> database(String text) {
        String name = Setting.DATABASE.defaultValue();
        if (isNumber(text)) {
            return Integer.parseInt(text) == Oids.DATABASE ? Optional.of(name) : Optional.empty();
        }
        if (!text.equals(name) && !text.equals("postgres")) { // both names are let in
            throw MillraceException.user(SqlState.INVALID_CATALOG_NAME, "database \"" + text + "\" does not exist");
        }
        return Optional.of(name);
    }

    private static Optional<String> language(String text) {
        if (isNumber(text)) {
            return Language.numbered(Integer.parseInt(text)).map(Language::sqlName);
        }
        if (Language.named(text).isEmpty()) {
            throw MillraceException.user(SqlState.UNDEFINED_OBJECT, "language \"" + text + "\" does not exist");
        }
        return Optional.of(text);
    }

    // ---- answers ---------------------------------------------------------------------------------------------------

    private static List<Wanted> wanted(String list, Set<Privilege> possible) {
        return List.of(list.split(",")).stream()
                .map(word -> oneWanted(word.strip(), possible))
                .collect(Collectors.toList());
    }

    private static Wanted oneWanted(String word, Set<Privilege> possible) {
        String name = word.toUpperCase(Locale.ROOT);
        boolean grantable = name.endsWith(WITH_GRANT);
        String bare = grantable ? name.substring(0, name.length() - WITH_GRANT.length()) : name;
        String full = bare.equals("TEMP") ? Privilege.TEMPORARY.name() : bare;
        return possible.stream()
                .filter(privilege -> privilege.name().equals(full))
                .findFirst()
                .map(privilege -> new Wanted(privilege, grantable))
                .orElseThrow(() -> unknownPrivilege(word));
    }

    private static MillraceException unknownPrivilege(String word) {
        return MillraceException.user(
                SqlState.INVALID_PARAMETER_VALUE, "unrecognized privilege type: \"" + word + "\"");
    }

    private boolean onRelation(String role, String name, List<Wanted> wanted) {
        return wanted.stream().anyMatch(each -> {
            Securable object = Securable.relation(name);
            return each.grantable() && catalog.object(name).isPresent()
                    ? roles.mayGrant(role, each.privilege(), object)
                    : (!each.grantable() || roles.isSuperuser(role))
                            && RelationAccess.allows(catalog, role, each.privilege(), name);
        });
    }

    private @Nullable Object on(String role, Securable.Kind kind, Optional<String> name, String privileges) {
        List<Wanted> wanted = wanted(privileges, kind.privileges());
        return name.map(found -> holds(role, new Securable(kind, found), wanted))
                .orElse(null);
    }

    private boolean holds(String role, Securable object, List<Wanted> wanted) {
        return wanted.stream()
                .anyMatch(each -> each.grantable()
                        ? roles.mayGrant(role, each.privilege(), object)
                        : roles.has(role, each.privilege(), object));
    }

    /** There are no sequences: what is one is not. */
    private @Nullable Object sequence(String text, String privileges) {
        wanted(privileges, OF_SEQUENCES);
        Optional<String> name = relation(text);
        if (name.isPresent() && !isNumber(text)) {
            throw MillraceException.user(SqlState.WRONG_OBJECT_TYPE, "\"" + text + "\" is not a sequence");
        }
        return null;
    }

    private @Nullable Object function(String role, String text, String privileges) {
        List<Wanted> wanted = wanted(privileges, Securable.Kind.FUNCTION.privileges());
        Optional<String> name = isNumber(text)
                ? oids.name(Integer.parseInt(text)).map(known -> RelationNames.inCatalog(known.replace("()", "")))
                : functionName(text);
        return name.map(found -> function(role, found, text, wanted)).orElse(null);
    }

    /** The catalog's name of a function, given before its arguments; of one of the system's without the schema. */
    private static Optional<String> functionName(String text) {
        int open = text.indexOf('(');
        String name = RelationNames.of(parts(open < 0 ? text : text.substring(0, open)));
        return Optional.of(
                RelationNames.isOfSystem(RelationNames.prefix(name)) ? name.substring(name.indexOf('.') + 1) : name);
    }

    private boolean function(String role, String name, String text, List<Wanted> wanted) {
        boolean made = catalog.object(name)
                .filter(object -> object.kind() == ObjectKind.FUNCTION)
                .isPresent();
        boolean known = isNumber(text)
                || !FunctionCatalog.overloads(name).isEmpty()
                || FunctionCatalog.ALIASES.containsKey(name)
                || PgFunctions.names().contains(name);
        if (!made && !known) {
            throw MillraceException.user(SqlState.UNDEFINED_FUNCTION, "function \"" + text + "\" does not exist");
        }
        return made
                ? holds(role, Securable.function(name), wanted)
                : wanted.stream().anyMatch(each -> !each.grantable() || roles.isSuperuser(role));
    }

    /** MEMBER may become the role, USAGE has what the role may do. */
    private boolean membership(String role, String of, String privileges) {
        for (String word : privileges.split(",")) {
            String name = word.strip().toUpperCase(Locale.ROOT);
            boolean admin = name.endsWith(WITH_ADMIN) || name.endsWith(WITH_GRANT);
            String bare = admin ? name.substring(0, name.length() - WITH_ADMIN.length()) : name;
            if (!bare.equals("MEMBER") && !bare.equals("USAGE")) {
                throw unknownPrivilege(word.strip());
            }
            boolean holds = admin
                    ? roles.isSuperuser(role)
                            || roles.memberships().stream()
                                    .anyMatch(each -> each.role().equals(of)
                                            && each.admin()
                                            && roles.hasPrivilegesOf(role, each.member()))
                    : bare.equals("MEMBER")
                            ? roles.isSuperuser(role) || roles.isMember(role, of)
                            : roles.hasPrivilegesOf(role, of);
            if (holds) {
                return true;
            }
        }
        return false;
    }
}
