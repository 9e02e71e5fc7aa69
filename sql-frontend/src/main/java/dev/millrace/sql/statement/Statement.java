package dev.millrace.sql.statement;

import dev.millrace.plan.expression.Expression;
import dev.millrace.sql.catalog.TableRules;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * One analysed statement. Names are folded as PostgreSQL folds them. Option names keep their dots
 * ({@code watermark.idle_timeout}), option values are text whatever their literal was.
 *
 * <p>Long because it is the list of all statements.
 */
public sealed interface Statement {

    /** Statements about tables that have files of their own. */
    non-sealed interface TableStatement extends Statement {}

    // ---- relations -------------------------------------------------------------------------------------------------

    /** What to do when the name is taken. */
    enum IfExists {
        FAIL,
        /** IF NOT EXISTS. */
        SKIP,
        /** OR REPLACE. */
        REPLACE
    }

    /**
     * WATERMARK FOR {@code column} AS {@code column - delay}. The column is a name: when the columns come from the
     * connector, only the server can resolve it.
     */
    record WatermarkDefinition(String column, long delayMicros) {}

    /** CREATE STREAM. No columns means that the connector knows them. */
    record CreateStream(
            String name,
            IfExists ifExists,
            List<Field> columns,
            TableRules rules,
            Optional<WatermarkDefinition> watermark,
            Map<String, String> options)
            implements Statement {}

    /**
     * CREATE STREAM ... AS: a stream that a query fills.
     *
     * @param watermark if it is not what the query says of event time
     */
    record CreateStreamAs(
            String name,
            IfExists ifExists,
            Query query,
            Optional<WatermarkDefinition> watermark,
            Map<String, String> options)
            implements Statement {}

    /** CREATE TABLE. No columns means that the connector knows them. */
    record CreateTable(
            String name,
            IfExists ifExists,
            List<Field> columns,
            List<String> primaryKey,
            TableRules rules,
            Optional<WatermarkDefinition> watermark,
            Map<String, String> options)
            implements Statement {}

    /** CREATE CONTINUOUS QUERY ... AS. {@code queryText} is what follows AS. */
    record CreateContinuousQuery(
            String name, IfExists ifExists, Map<String, String> options, Query query, String queryText)
            implements Statement {}

    /** CREATE MATERIALIZED VIEW. */
    record CreateMaterializedView(
            String name, IfExists ifExists, Map<String, String> options, Query query, String queryText)
            implements Statement {}

    /** CREATE VIEW: a query that takes the place of its name where that is read. */
    record CreateView(String name, IfExists ifExists, Query query, String queryText) implements Statement {}

    /** CREATE TABLE ... AS. */
    record CreateTableAs(String name, IfExists ifExists, Query query, boolean withData, Map<String, String> options)
            implements Statement {}

    /** CREATE SINK: {@code query} is what was written after AS, or all columns of the relation after FROM. */
    record CreateSink(
            String name,
            IfExists ifExists,
            Optional<String> from,
            Query query,
            String queryText,
            Map<String, String> options)
            implements Statement {}

    /** CREATE QUERY TEMPLATE: the body is analysed when a query is made from it. */
    record CreateQueryTemplate(String name, IfExists ifExists, List<Field> parameters, String queryText)
            implements Statement {}

    /** CREATE CONTINUOUS QUERY ... FROM TEMPLATE. */
    record CreateFromTemplate(
            String name, IfExists ifExists, Map<String, String> options, String template, List<Expression> arguments)
            implements Statement {}

    /**
     * CREATE FUNCTION. {@code definition} are the texts after AS.
     *
     * @param returns of RETURNS TABLE a row
     * @param isStrict whether it is NULL, and not called, where an argument is
     * @param options behind WITH
     */
    record CreateFunction(
            String name,
            IfExists ifExists,
            List<Field> parameters,
            DataType returns,
            boolean returnsTable,
            String language,
            boolean isVolatile,
            boolean isStrict,
            Map<String, String> options,
            List<String> definition)
            implements Statement {}

    /** Kinds of objects that have a name. */
    enum ObjectKind {
        STREAM,
        TABLE,
        CONTINUOUS_QUERY,
        MATERIALIZED_VIEW,
        VIEW,
        SINK,
        QUERY_TEMPLATE,
        FUNCTION,
        INDEX,
        SCHEMA;

        private final String sqlName = name().toLowerCase(Locale.ROOT).replace('_', ' '); // one for all objects

        /** As it is written in SQL, in lower case. */
        public String sqlName() {
            return sqlName;
        }
    }

    /** DROP; of schemas, the names are those that they have in the catalog. */
    record Drop(ObjectKind kind, List<String> names, boolean ifExists, boolean cascade) implements Statement {}

    /** PAUSE CONTINUOUS QUERY or MATERIALIZED VIEW or SINK. */
    record Pause(ObjectKind kind, String name, boolean ifExists) implements Statement {}

    /** RESUME. @param skipRow whether rows that fail are left out */
    record Resume(ObjectKind kind, String name, boolean ifExists, boolean skipRow) implements Statement {}

    /** ALTER CONTINUOUS QUERY or MATERIALIZED VIEW ... AS. */
    record AlterQuery(ObjectKind kind, String name, Query query, String queryText) implements Statement {}

    /** ALTER ... SET (option = value, ...), and RESET (option, ...), whose options have no values. */
    record AlterOptions(ObjectKind kind, String name, Map<String, String> options) implements Statement {}

    /** ALTER STREAM ... EDGE device SET (setting = value, ...). @param device one of those that send to the stream; empty for all */
    record AlterEdge(String stream, Optional<String> device, Map<String, String> settings) implements Statement {}

    /**
     * REPROCESS CONTINUOUS QUERY or MATERIALIZED VIEW.
     *
     * @param start from where on, as the option {@code start} has it
     * @param stop up to where, likewise; empty for what goes on with what comes
     * @param beside the name under which the new answer is kept beside the old one; empty if it takes its place
     * @param queryText of the query by which the new answer is made; empty for the one that there is
     */
    record Reprocess(
            ObjectKind kind,
            String name,
            String start,
            Optional<String> stop,
            Optional<String> beside,
            Optional<String> queryText)
            implements Statement {}

    /** ALTER CONTINUOUS QUERY or MATERIALIZED VIEW ... APPLY REPLACEMENT. */
    record ApplyReplacement(ObjectKind kind, String name, String replacement) implements Statement {}

    // ---- rows ------------------------------------------------------------------------------------------------------

    /** SELECT, VALUES, WITH, TABLE: a finite answer. */
    record Select(Query query) implements Statement {}

    /** What happens to a subscriber that is too slow, or to the query. */
    enum OnSlow {
        /** The query waits. */
        BLOCK,
        /** What has waited longest is dropped, and the subscriber told how much. */
        DROP_OLDEST,
        /** The subscriber is told, and cut off. */
        DISCONNECT
    }

    /**
     * SUBSCRIBE TO a relation or a query.
     *
     * @param subscription the durable subscription by which the relation was named
     * @param asOfMicros since 1970 UTC: continue after this epoch
     * @param onSlow none is for the server to choose
     * @param bufferBytes how much may wait for the subscriber; none is for the server to choose
     */
    record Subscribe(
            Optional<String> subscription,
            Optional<String> relation,
            Query query,
            boolean snapshot,
            boolean progress,
            OptionalLong asOfMicros,
            Optional<OnSlow> onSlow,
            OptionalLong bufferBytes)
            implements Statement {}

    /**
     * RETURNING.
     *
     * @param query over {@link dev.millrace.sql.catalog.Relation#AT_HAND}: rows of the relation as they are now, or were
     *     deleted, and behind them those of FROM or USING
     * @param columns of those where nothing is computed, which are the answer already; else empty
     */
    record Returning(Query query, List<Integer> columns) {}

    /**
     * INSERT. {@code source} has one column per entry of {@code columns} (places in the relation), of its type already.
     * Columns that are not among them are made by the server, or NULL.
     */
    record Insert(
            String relation,
            List<Integer> columns,
            RowSource source,
            OnConflict onConflict,
            Optional<Returning> returning)
            implements Statement {}

    /** ON CONFLICT of an INSERT. */
    sealed interface OnConflict {
        /** A taken key is an error. */
        record Fail() implements OnConflict {}

        /**
         * The row that is there stays. {@code target}: whether the key was named, which there must be then, or the UNIQUE
         * constraint {@code unique}; without a target any of them counts.
         */
        record DoNothing(boolean target, Optional<String> unique) implements OnConflict {}

        /**
         * DO UPDATE of nothing but {@code SET c = EXCLUDED.c}: the columns that take the value of the inserted row.
         *
         * @param unique the UNIQUE constraint by which the row that is there is found; empty for the key
         */
        record Replace(List<Integer> columns, Optional<String> unique) implements OnConflict {}

        /**
         * DO UPDATE.
         *
         * @param changes over {@link dev.millrace.sql.catalog.Relation#AT_HAND}, which has the columns of the row that is
         *     there, those of the row to be inserted, and a number; gives, where WHERE says so, the columns of the row that
         *     is there, those of the row in its place, and the number
         * @param reads whether SET or WHERE look at the row that is there
         * @param unique the UNIQUE constraint by which that is found; empty for the key
         */
        record Update(Query changes, boolean reads, Optional<String> unique) implements OnConflict {}

        /**
         * What the table says, and not the INSERT: rows of one key, of which a statement may have several, are taken one after the
         * other.
         *
         * @param each what each of them does: {@link Replace} or {@link Update} by the key
         */
        record Successive(OnConflict each) implements OnConflict {}
    }

    /**
     * UPDATE. {@code changes} has all columns of the old rows, all columns of the new rows, and where RETURNING wants them
     * those of FROM.
     *
     * @param matched for FROM and a relation without a key: the old rows, each as often as it is there
     */
    record Update(
            String relation, Query changes, boolean joined, Optional<Query> matched, Optional<Returning> returning)
            implements Statement {}

    /**
     * DELETE. {@code rows} has all columns of the rows to be deleted, and where RETURNING wants them those of USING.
     *
     * @param joined whether a row may come several times
     * @param matched for USING, RETURNING and a relation without a key: the rows, each as often as it is there
     */
    record Delete(String relation, Query rows, boolean joined, Optional<Query> matched, Optional<Returning> returning)
            implements Statement {}

    /** TRUNCATE; {@code restart}: and numbers begin again. {@code cascade}: of tables that reference these, too. */
    record Truncate(List<String> relations, boolean restart, boolean cascade) implements Statement {}

    /**
     * COPY relation FROM; no file means STDIN.
     *
     * @param columns that come
     * @param defaults the columns that take their default: {@code computed} gives the columns that come and then these, over
     *     {@link dev.millrace.sql.catalog.Relation#AT_HAND} with the columns that come
     * @param onConflict what the table says
     */
    record CopyFrom(
            String relation,
            List<Integer> columns,
            List<Integer> defaults,
            Optional<Query> computed,
            OnConflict onConflict,
            Optional<String> file,
            Map<String, String> options)
            implements Statement {}

    /** COPY (a relation, SELECT or SUBSCRIBE) TO; no file means STDOUT. */
    record CopyTo(Statement source, Optional<String> file, Map<String, String> options) implements Statement {}

    /**
     * A statement of PostgreSQL's that has nothing to do here, such as VACUUM.
     *
     * @param command its tag
     * @param relations that it names, which are to be there
     * @param notice why there is nothing to do; none where what it asks for holds
     */
    record NoOperation(String command, List<String> relations, Optional<String> notice) implements Statement {
        public NoOperation {
            relations = List.copyOf(relations);
        }
    }

    /** CHECKPOINT. */
    record Checkpoint() implements Statement {}

    /** BACKUP TO a directory that is not there. */
    record Backup(String directory) implements Statement {}

    /** FLUSH. */
    record Flush() implements Statement {}

    /**
     * DECLARE name CURSOR FOR a Select or Subscribe.
     *
     * @param scroll whether SCROLL or NO SCROLL is said
     * @param hold beyond the end of its transaction
     */
    record DeclareCursor(String name, Statement source, Optional<Boolean> scroll, boolean hold) implements Statement {}

    /**
     * FETCH, or MOVE, which passes the rows over.
     *
     * @param timeoutMicros how long a subscription is waited for; none waits for the first row, as long as it takes
     */
    record Fetch(String cursor, Movement movement, OptionalLong timeoutMicros, boolean move) implements Statement {}

    /** CLOSE a cursor; no name means ALL. */
    record CloseCursor(Optional<String> cursor) implements Statement {}

    // ---- questions about the system --------------------------------------------------------------------------------

    /** What SHOW lists. */
    enum Listing {
        STREAMS,
        TABLES,
        CONTINUOUS_QUERIES,
        MATERIALIZED_VIEWS,
        VIEWS,
        SINKS,
        TEMPLATES,
        FUNCTIONS,
        INDEXES,
        QUERY_GROUPS,
        WORKERS
    }

    /** SHOW STREAMS and the like. */
    record Show(Listing listing) implements Statement {}

    /** SHOW CREATE; no kind means whatever has the name. */
    record ShowCreate(Optional<ObjectKind> kind, String name) implements Statement {}

    /** DESCRIBE; the relation was found in the catalog, or has no name where it is what a query gives. */
    record Describe(String relation, Schema schema) implements Statement {}

    /** How EXPLAIN shows a plan. */
    enum ExplainForm {
        LOGICAL,
        PHYSICAL,
        CODE,
        VERBOSE
    }

    /** EXPLAIN; no form means PHYSICAL. */
    record Explain(Set<ExplainForm> forms, Statement statement) implements Statement {}

    /** EXPLAIN ANALYZE of a statement, which is run. */
    record ExplainAnalyze(Statement statement) implements Statement {}

    /** EXPLAIN ANALYZE CONTINUOUS QUERY or MATERIALIZED VIEW: the counters of the running query. */
    record ExplainRunning(ObjectKind kind, String name) implements Statement {}

    // ---- the session -----------------------------------------------------------------------------------------------

    /** SET name = value; no value means DEFAULT. {@code local}: until the end of the transaction. */
    record SetSetting(String name, Optional<String> value, boolean local) implements Statement {}

    /** RESET name; no name means ALL. */
    record ResetSetting(Optional<String> name) implements Statement {}

    /** ALTER SYSTEM SET or RESET; no name means ALL, no value RESET or DEFAULT. */
    record AlterSystem(Optional<String> name, Optional<String> value) implements Statement {}

    /** SHOW name; no name means ALL. */
    record ShowSetting(Optional<String> name) implements Statement {}

    /**
     * What BEGIN and SET TRANSACTION say of a transaction.
     *
     * @param isolation in lower case: {@code read committed}
     */
    record TransactionModes(Optional<String> isolation, Optional<Boolean> readOnly, Optional<Boolean> deferrable) {}

    /** BEGIN or START TRANSACTION. */
    record Begin(TransactionModes modes) implements Statement {}

    /** COMMIT or END. {@code chain}: and begin another like it. */
    record Commit(boolean chain) implements Statement {}

    /** ROLLBACK or ABORT. */
    record Rollback(boolean chain) implements Statement {}

    /** SAVEPOINT. */
    record Savepoint(String name) implements Statement {}

    /** SET CONSTRAINTS: when foreign keys are checked in the transaction under way; without names all that are deferrable. */
    record SetConstraints(List<String> names, boolean deferred) implements Statement {
        public SetConstraints {
            names = List.copyOf(names);
        }
    }

    /** ROLLBACK TO SAVEPOINT. */
    record RollbackTo(String savepoint) implements Statement {}

    /** RELEASE SAVEPOINT. */
    record Release(String savepoint) implements Statement {}

    /** SET TRANSACTION, or SET SESSION CHARACTERISTICS AS TRANSACTION, which is for those to come. */
    record SetTransaction(TransactionModes modes, boolean session) implements Statement {}

    /** PREPARE name AS a statement, which is kept as its syntax. */
    record Prepare(String name, List<DataType> types) implements Statement {}

    /** EXECUTE a prepared statement with constants. */
    record ExecutePrepared(String name, List<Expression> arguments) implements Statement {}

    /** DEALLOCATE a prepared statement; no name means ALL. */
    record Deallocate(Optional<String> name) implements Statement {}

    /** DISCARD ALL, PLANS, SEQUENCES or TEMP; {@code all} cleans the session, the others have nothing to do. */
    record Discard(String what) implements Statement {}

    /** UNLISTEN, which drivers send to clean a session: nobody listens. */
    record Unlisten() implements Statement {}

    // ---- roles -----------------------------------------------------------------------------------------------------

    /** SET ROLE; no name means NONE. */
    record SetRole(Optional<String> role) implements Statement {}

    /** SET SESSION AUTHORIZATION; no name means DEFAULT. */
    record SetSessionAuthorization(Optional<String> role) implements Statement {}

    /** What changes roles, privileges and owners. */
    sealed interface RoleStatement extends Statement {}

    /** What a role is or is not. */
    enum RoleAttribute {
        SUPERUSER,
        INHERIT,
        CREATEROLE,
        CREATEDB,
        LOGIN,
        REPLICATION,
        BYPASSRLS
    }

    /** A password, in clear or as a verifier; nothing shows it by accident. */
    record Secret(String text) {
        @Override
        public String toString() {
            return "********";
        }
    }

    /**
     * The options of CREATE and ALTER ROLE.
     *
     * @param attributes those that are said to hold or not
     * @param password an empty one takes the password away
     * @param validUntil a timestamp's text, or {@code infinity}
     * @param inRoles roles that it becomes a member of
     * @param members roles that become members of it
     * @param admins the same WITH ADMIN OPTION
     */
    record RoleOptions(
            Map<RoleAttribute, Boolean> attributes,
            Optional<Integer> connectionLimit,
            Optional<Optional<Secret>> password,
            Optional<String> validUntil,
            List<String> inRoles,
            List<String> members,
            List<String> admins) {}

    /** CREATE ROLE, USER or GROUP, which {@code word} says. */
    record CreateRole(String word, String name, RoleOptions options) implements RoleStatement {}

    /** ALTER ROLE. */
    record AlterRole(String name, RoleOptions options) implements RoleStatement {}

    /** ALTER ROLE ... RENAME TO. */
    record RenameRole(String name, String newName) implements RoleStatement {}

    /** ALTER ROLE ... SET, or RESET when there is no value; no setting means RESET ALL. */
    record AlterRoleSetting(String name, Optional<String> setting, Optional<String> value) implements RoleStatement {}

    /** COMMENT ON ROLE; no text takes it away. */
    record CommentOnRole(String name, Optional<String> text) implements RoleStatement {}

    /** DROP ROLE. */
    record DropRole(List<String> names, boolean ifExists) implements RoleStatement {}

    /**
     * GRANT roles TO members, or REVOKE.
     *
     * @param optionOnly REVOKE ADMIN OPTION FOR
     * @param grantor GRANTED BY
     */
    record GrantRoles(
            List<String> roles,
            List<String> members,
            boolean revoke,
            boolean admin,
            boolean optionOnly,
            Optional<String> grantor)
            implements RoleStatement {}

    /**
     * GRANT privileges ON objects TO roles, or REVOKE.
     *
     * @param privileges none means ALL
     * @param objects of one kind; none means all of the kind in some schemas
     * @param schemas those
     * @param only the kind of relations that is meant in them; none means all relations
     * @param grantees an empty name is PUBLIC
     * @param option WITH GRANT OPTION
     * @param optionOnly REVOKE GRANT OPTION FOR
     * @param grantor GRANTED BY
     */
    record GrantPrivileges(
            Set<Privilege> privileges,
            Securable.Kind kind,
            List<String> objects,
            List<String> schemas,
            Optional<ObjectKind> only,
            List<String> grantees,
            boolean revoke,
            boolean option,
            boolean optionOnly,
            Optional<String> grantor)
            implements RoleStatement {}

    /**
     * ALTER DEFAULT PRIVILEGES.
     *
     * @param roles whose objects are meant; none means those of whoever runs it
     * @param grant of no objects; no schemas means everywhere
     */
    record AlterDefaultPrivileges(List<String> roles, GrantPrivileges grant) implements RoleStatement {}

    /** ALTER ... OWNER TO. */
    record ChangeOwner(ObjectKind kind, String name, String owner) implements RoleStatement {}

    /** REASSIGN OWNED BY roles TO a role. */
    record ReassignOwned(List<String> roles, String owner) implements RoleStatement {}

    /** DROP OWNED BY roles: takes back what they were granted; what they own must be dropped by name. */
    record DropOwned(List<String> roles) implements RoleStatement {}
}
