package dev.millrace.server.ddl;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.python.PythonFunction;
import dev.millrace.expressions.user.UserCode;
import dev.millrace.expressions.user.UserModules;
import dev.millrace.expressions.user.UserPython;
import dev.millrace.plan.expression.Expression;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog.TakenOut;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.permission.Identity;
import dev.millrace.server.result.StatementResult.Command;
import dev.millrace.sql.catalog.TableRules;
import dev.millrace.sql.catalog.UserFunction;
import dev.millrace.sql.statement.Commented;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.IfExists;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** CREATE FUNCTION. Functions and relations share one space of names. */
public final class Functions {
    private final Instance database;
    private final Identity identity;
    private final HeldDefinitions held;

    public Functions(Instance database, Identity identity, HeldDefinitions held) {
        this.database = database;
        this.held = held;
        this.identity = identity;
    }

    public Command create(Statement.CreateFunction create, String text) {
        UserFunction function = function(create);
        database.lockDefinitions();
        try {
            if (!database.catalogStore().isRestoring()) {
                database.catalog().requireSchema(create.name());
            }
            Optional<CatalogObject> old = database.catalog().object(create.name());
            Map<Commented, String> comments = database.catalog().comments().about(create.name());
            if (old.isPresent()) {
                boolean replaces =
                        create.ifExists() == IfExists.REPLACE && old.get().kind() == ObjectKind.FUNCTION;
                if (create.ifExists() == IfExists.SKIP) {
                    return Command.of("CREATE FUNCTION");
                }
                if (!replaces) {
                    throw MillraceException.user(
                                    SqlState.DUPLICATE_OBJECT,
                                    old.get().kind().sqlName() + " \"" + create.name() + "\" already exists")
                            .withHint("CREATE OR REPLACE FUNCTION");
                }
                TakenOut before = database.catalog().takeOut(create.name());
                held.changed(create.name());
                held.step(() -> database.catalog().putBack(before), () -> {});
            }
            database.catalog().add(object(create, text), function);
            held.made(create.name(), () -> database.catalog().remove(create.name()));
            database.catalog().comments().putAll(comments);
            if (old.isEmpty()) {
                database.catalog()
                        .made(database.catalog().require(ObjectKind.FUNCTION, create.name()), identity.current());
            }
            return Command.of("CREATE FUNCTION");
        } finally {
            database.definitionLock().unlock();
        }
    }

    private CatalogObject object(Statement.CreateFunction create, String text) {
        return new CatalogObject(
                create.name(),
                ObjectKind.FUNCTION,
                new Schema(create.parameters()),
                true,
                List.of(),
                Optional.empty(),
                Optional.empty(),
                Set.of(),
                Map.of(),
                text,
                database.catalogStore().creationMicros(),
                TableRules.NONE);
    }

    private UserFunction function(Statement.CreateFunction create) {
        if (!create.options().isEmpty() && !create.language().equals("python")) {
            throw MillraceException.user(
                            SqlState.SYNTAX_ERROR,
                            "a function in LANGUAGE " + create.language().toUpperCase(Locale.ROOT) + " has no options")
                    .withHint("WITH (vectorized) is for LANGUAGE PYTHON");
        }
        switch (create.language()) {
            case "sql" -> {
                return new UserFunction(
                        create.name(),
                        create.returnsTable() ? UserFunction.Kind.SQL_TABLE : UserFunction.Kind.SQL,
                        create.parameters(),
                        create.returns(),
                        create.definition().get(0));
            }
            case "java" -> {
                return java(create);
            }
            case "wasm" -> {
                return wasm(create);
            }
            case "python" -> {
                return python(create);
            }
            case "plpgsql", "c", "internal", "plperl", "plperlu", "pltcl", "plpython3u" ->
                throw MillraceException.notAvailableYet("language \"" + create.language() + "\"")
                        .withHint(
                                "LANGUAGE SQL has expressions and queries, LANGUAGE JAVA, WASM and PYTHON all else; docs/functions.md");
            default ->
                throw MillraceException.user(
                                SqlState.UNDEFINED_OBJECT, "language \"" + create.language() + "\" does not exist")
                        .withHint("SQL, JAVA, WASM and PYTHON do");
        }
    }

    /** The jar is loaded, and the class tried, before the function exists. */
    private UserFunction java(Statement.CreateFunction create) {
        if (create.definition().size() != 2) {
            throw MillraceException.user(SqlState.SYNTAX_ERROR, "a Java function is a jar and a class in it")
                    .withHint("LANGUAGE JAVA AS 'path.jar', 'org.example.Class'");
        }
        Path jar = database.catalogStore().jar(path(create.definition().get(0), "a jar"));
        String hash = UserCode.load(jar);
        database.catalogStore().keepJar(hash, jar);
        String key = UserCode.key(create.name(), hash, create.definition().get(1));
        UserFunction.Kind kind = UserFunction.Kind.valueOf(UserCode.kind(key).name());
        if (create.returnsTable() != (kind == UserFunction.Kind.TABLE)) {
            throw MillraceException.user(
                            SqlState.WRONG_OBJECT_TYPE,
                            "class " + create.definition().get(1) + " is " + (create.returnsTable() ? "no" : "a")
                                    + " table function")
                    .withHint("RETURNS TABLE (..) goes with dev.millrace.udf.TableFunction");
        }
        UserCode.check(key, create.parameters().stream().map(Field::type).toList());
        boolean eachTime = create.isVolatile() && kind == UserFunction.Kind.SCALAR;
        String code = eachTime ? key + Expression.EACH_TIME : key;
        return new UserFunction(create.name(), kind, create.parameters(), create.returns(), code);
    }

    /** The module is compiled, and an instance of it started, before the function exists. */
    private UserFunction wasm(Statement.CreateFunction create) {
        if (create.definition().size() != 2) {
            throw MillraceException.user(
                            SqlState.SYNTAX_ERROR, "a function in WebAssembly is a module and the name of an export")
                    .withHint(
                            "LANGUAGE WASM AS 'path.wasm', 'export', or the module in base64 in the place of its path");
        }
        if (create.returnsTable()) {
            throw MillraceException.notAvailableYet("a function in WebAssembly that RETURNS TABLE")
                    .withHint("LANGUAGE JAVA has table functions and aggregates");
        }
        String module = create.definition().get(0);
        String export = create.definition().get(1);
        String key;
        if (UserModules.isInline(module)) {
            key = UserModules.inlineKey(create.name(), UserModules.load(UserModules.inline(module)), export);
        } else {
            Path file = database.catalogStore().jar(path(module, "a module"));
            String hash = UserModules.load(UserModules.read(file));
            database.catalogStore().keepJar(hash, file);
            key = UserModules.fileKey(create.name(), hash, export);
        }
        UserModules.check(key, create.parameters().stream().map(Field::type).toList(), create.returns());
        return new UserFunction(
                create.name(),
                UserFunction.Kind.SCALAR,
                create.parameters(),
                create.returns(),
                create.isVolatile() ? key + Expression.EACH_TIME : key);
    }

    /** A process defines it before it exists; not where it is made again, which needs no Python before it is called. */
    private UserFunction python(Statement.CreateFunction create) {
        if (create.definition().size() != 1) {
            throw MillraceException.user(SqlState.SYNTAX_ERROR, "a function in Python is one text")
                    .withHint("LANGUAGE PYTHON AS $$ def f(a): return a $$, where f is the function's name");
        }
        if (create.returnsTable()) {
            throw MillraceException.notAvailableYet("a function in Python that RETURNS TABLE")
                    .withHint("LANGUAGE JAVA has table functions and aggregates");
        }
        Map<String, String> options = new HashMap<>(create.options());
        String vectorized = options.getOrDefault("vectorized", "false").toLowerCase(Locale.ROOT);
        options.remove("vectorized");
        if (!vectorized.equals("true") && !vectorized.equals("false")) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE, "option \"vectorized\" is true or false, not " + vectorized);
        }
        if (!options.isEmpty()) {
            throw MillraceException.user(
                    SqlState.SYNTAX_ERROR,
                    "a function in Python has no option \""
                            + options.keySet().iterator().next() + "\"");
        }
        PythonFunction function = new PythonFunction(
                create.name().substring(create.name().lastIndexOf('.') + 1),
                create.definition().get(0),
                create.parameters().stream().map(Field::type).toList(),
                create.returns(),
                create.isStrict(),
                vectorized.equals("true"));
        String key = UserPython.load(create.name(), function);
        if (!database.catalogStore().isRestoring()) {
            UserPython.check(key);
        }
        return new UserFunction(
                create.name(),
                UserFunction.Kind.SCALAR,
                create.parameters(),
                create.returns(),
                create.isVolatile() ? key + Expression.EACH_TIME : key);
    }

    private static Path path(String given, String what) {
        try {
            return Path.of(given);
        } catch (InvalidPathException e) {
            throw MillraceException.user(SqlState.UNDEFINED_FILE, "\"" + given + "\" is no path of " + what);
        }
    }
}
