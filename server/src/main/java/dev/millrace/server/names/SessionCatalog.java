package dev.millrace.server.names;

import dev.millrace.connector.query.FileCall;
import dev.millrace.connector.query.FileRelation;
import dev.millrace.error.MillraceException;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.permission.Identity;
import dev.millrace.server.permission.Permissions;
import dev.millrace.server.pgcatalog.PgCatalog;
import dev.millrace.server.settings.PassiveSettings;
import dev.millrace.server.settings.ProductVersion;
import dev.millrace.server.settings.SessionSettings;
import dev.millrace.server.settings.Setting;
import dev.millrace.server.settings.SystemSettings;
import dev.millrace.sql.catalog.Catalog;
import dev.millrace.sql.catalog.Relation;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.catalog.UserFunction;
import dev.millrace.type.PlainNumeric;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * The database's catalog, and what functions say about one session.
 *
 * @param path where names without a schema are looked for
 * @param sees whether what has a name is there for the session: not what another's transaction has made and not committed; waits for what that
 *     has altered or dropped
 * @param signals the functions by which the session stops others
 * @param files what statements find of files that they name
 */
public record SessionCatalog(
        DatabaseCatalog catalog,
        PgCatalog pgCatalog,
        SessionSettings settings,
        SystemSettings system,
        Identity identity,
        Permissions permissions,
        SessionObjects objects,
        SearchPath path,
        Predicate<String> sees,
        Function<String, Optional<UserFunction>> signals,
        FilesInQueries files)
        implements Catalog {
    @Override
    public Optional<Relation> relation(String name) {
        return path.find(name)
                .flatMap(catalog::relation)
                .or(() -> path.schemas().stream()
                        .filter(RelationNames::isOfSystem)
                        .flatMap(schema -> catalog.system(schema + "." + name).stream())
                        .findFirst())
                .or(() -> catalog.system(name));
    }

    @Override
    public Optional<Relation> exactRelation(String name) {
        return Optional.of(name).filter(sees).flatMap(catalog::relation);
    }

    /** Another number whenever names may mean something else to the session than before. */
    public long version() {
        return path.version();
    }

    @Override
    public boolean hasOwnNames() {
        return !path.isPlain();
    }

    @Override
    public boolean isSchema(String name) {
        return catalog.isSchema(name);
    }

    @Override
    public Catalog ofDefinitions() {
        return path.isPlain()
                ? this
                : new SessionCatalog(
                        catalog,
                        pgCatalog,
                        settings,
                        system,
                        identity,
                        permissions,
                        objects,
                        path.literal(),
                        sees,
                        signals,
                        files);
    }

    @Override
    public FileRelation files(FileCall call) {
        return files.find(call);
    }

    @Override
    public Collection<String> relationNames() {
        return catalog.relationNames().stream()
                .filter(name -> !RelationNames.isOfSession(name))
                .toList();
    }

    @Override
    public Optional<String> sessionFunction(String name, List<String> arguments) {
        if (name.equals("current_setting") && !arguments.isEmpty()) {
            return Optional.of(currentSetting(arguments));
        }
        return switch (name) {
            case "version" ->
                Optional.of("PostgreSQL " + Setting.SERVER_VERSION.defaultValue() + " (Millrace " + ProductVersion.TEXT
                        + ")");
            case "current_user", "user", "current_role" -> Optional.of(identity.current());
            case "session_user" -> Optional.of(identity.session());
            case "current_database", "current_catalog" -> Optional.of(settings.get(Setting.DATABASE));
            case SessionObjects.FUNCTION ->
                arguments.size() == 1 ? Optional.of(objects.json(arguments.get(0))) : Optional.empty();
            case SearchPath.FUNCTION ->
                arguments.size() == 1 ? Optional.of(path.text(arguments.get(0))) : Optional.empty();
            case "current_schema" -> Optional.of(path.current().orElse(""));
            default -> Optional.empty();
        };
    }

    /** {@code current_setting(name, true)} is empty for a setting that does not exist. */
    private String currentSetting(List<String> arguments) {
        if (PassiveSettings.isPassive(arguments.get(0))) {
            Optional<String> value = settings.passive(arguments.get(0));
            if (value.isPresent()) {
                return value.get();
            }
        }
        try {
            Setting setting = Setting.named(arguments.get(0));
            return system.shown(setting).map(SystemSettings.Shown::value).orElseGet(() -> settings.get(setting));
        } catch (MillraceException e) {
            if (arguments.size() > 1 && arguments.get(1).startsWith("t")) {
                return "";
            }
            throw e;
        }
    }

    @Override
    public boolean isMadeByUser(String function) {
        return madeByUser(function).isPresent();
    }

    private Optional<UserFunction> madeByUser(String name) {
        return path.find(name, known -> catalog.userFunction(known).isPresent()).flatMap(catalog::userFunction);
    }

    @Override
    public Optional<UserFunction> userFunction(String name) {
        Optional<UserFunction> found = madeByUser(name);
        found.ifPresent(function -> permissions.requireExecute(function.name()));
        return found.or(() -> signals.apply(name)).or(() -> pgCatalog.function(name));
    }

    @Override
    public Optional<String> subscribed(String subscription) {
        return catalog.subscribed(subscription);
    }

    @Override
    public Optional<String> viewQuery(String name) {
        return catalog.viewQuery(name);
    }

    @Override
    public PlainNumeric numericIn(String relation) {
        return catalog.numericIn(relation);
    }

    @Override
    public Optional<String> nextValue(String relation, String column) {
        return catalog.nextValue(relation, column);
    }

    @Override
    public Optional<UserFunction> view(String name) {
        return pgCatalog.view(name);
    }
}
