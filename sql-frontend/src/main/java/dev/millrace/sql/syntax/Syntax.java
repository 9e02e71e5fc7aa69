package dev.millrace.sql.syntax;

import dev.millrace.sql.catalog.ColumnRule;
import dev.millrace.sql.catalog.TableConflict;
import dev.millrace.sql.statement.Emit;
import dev.millrace.sql.statement.LiteralRows;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.ExplainForm;
import dev.millrace.sql.statement.Statement.IfExists;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.sql.statement.Statement.OnSlow;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;

/** One parsed statement; {@code bind.StatementBinder} makes a {@link Statement} of it. */
public sealed interface Syntax {
    /** Whether the statement changes rows, and can be prepared. */
    default boolean changesRows() {
        return this instanceof Insert
                || this instanceof Update
                || this instanceof Delete
                || this instanceof Merge
                || this instanceof WithChanges;
    }

    /** Whether the statement changes rows and has RETURNING. */
    default boolean returnsRows() {
        return this instanceof Insert insert && !insert.returning().isEmpty()
                || this instanceof Update update && !update.returning().isEmpty()
                || this instanceof Delete delete && !delete.returning().isEmpty()
                || this instanceof Merge merge && !merge.returning().isEmpty();
    }

    /** A statement that names nothing to be resolved. */
    record Complete(Statement statement) implements Syntax {}

    /** A query with its EMIT clause and its text. */
    record QueryText(SqlNode query, Emit emit, String text) {}

    /**
     * DEFAULT or GENERATED of a column.
     *
     * @param expression none for numbers
     * @param position in the text, from 1
     */
    record RuleClause(ColumnRule.Kind kind, Optional<SqlNode> expression, String text, int position) {}

    /** CHECK, of a column or of the table. */
    record CheckClause(Optional<String> name, Optional<String> column, SqlNode expression, String text) {}

    /** UNIQUE, of a column or of the table. */
    record UniqueClause(Optional<String> name, List<SqlIdentifier> columns) {}

    /** A column of CREATE STREAM or TABLE, or a parameter. */
    record Column(SqlIdentifier name, TypeSpec type, boolean notNull, Optional<RuleClause> rule) {
        public Column(SqlIdentifier name, TypeSpec type, boolean notNull) {
            this(name, type, notNull, Optional.empty());
        }
    }

    /** WATERMARK FOR column AS expression. */
    record WatermarkClause(SqlIdentifier column, SqlNode expression) {}

    /** ON CONFLICT of CREATE TABLE, with the version columns. */
    record ConflictClause(TableConflict.Action action, List<SqlIdentifier> versions) {}

    record CreateRelation(
            ObjectKind kind,
            String name,
            IfExists ifExists,
            List<Column> columns,
            List<SqlIdentifier> primaryKey,
            List<CheckClause> checks,
            List<UniqueClause> uniques,
            Optional<ConflictClause> conflict,
            Optional<WatermarkClause> watermark,
            Map<String, String> options)
            implements Syntax {}

    /** CREATE CONTINUOUS QUERY or MATERIALIZED VIEW. */
    record CreateQuery(ObjectKind kind, String name, IfExists ifExists, Map<String, String> options, QueryText query)
            implements Syntax {}

    /** CREATE TABLE .. AS; {@code columns} are other names for its first columns. */
    record CreateTableAs(
            String name,
            IfExists ifExists,
            List<SqlIdentifier> columns,
            QueryText query,
            boolean withData,
            Map<String, String> options)
            implements Syntax {}

    /** CREATE STREAM .. AS. */
    record CreateStreamAs(
            String name,
            IfExists ifExists,
            QueryText query,
            Optional<WatermarkClause> watermark,
            Map<String, String> options)
            implements Syntax {}

    /** CREATE VIEW; {@code columns} are other names for its first columns. */
    record CreateView(String name, IfExists ifExists, List<SqlIdentifier> columns, QueryText query) implements Syntax {}

    record CreateSink(
            String name, IfExists ifExists, Optional<SqlIdentifier> from, QueryText query, Map<String, String> options)
            implements Syntax {}

    record CreateTemplate(String name, IfExists ifExists, List<Column> parameters, String queryText)
            implements Syntax {}

    record CreateFromTemplate(
            String name, IfExists ifExists, Map<String, String> options, String template, List<SqlNode> arguments)
            implements Syntax {}

    record CreateFunction(
            String name,
            IfExists ifExists,
            List<Column> parameters,
            Optional<TypeSpec> returns,
            List<Column> table,
            String language,
            boolean isVolatile,
            boolean isStrict,
            Map<String, String> options,
            List<String> definition)
            implements Syntax {}

    record AlterQuery(ObjectKind kind, String name, QueryText query) implements Syntax {}

    record Reprocess(
            Statement.ObjectKind kind,
            String name,
            Moment from,
            Optional<Moment> to,
            Optional<String> beside,
            Optional<String> queryText)
            implements Syntax {}

    /** A point in time: as the option {@code start} has it, or an expression. */
    record Moment(Optional<String> text, Optional<SqlNode> time) {}

    /** @param options of {@code WITH (..)} behind it */
    record Select(QueryText query, Map<String, String> options) implements Syntax {}

    /** ALTER SUBSCRIPTION .. ACKNOWLEDGE. */
    record Acknowledge(String subscription, SqlNode upTo) implements Syntax {}

    record Subscribe(
            Optional<SqlIdentifier> relation,
            QueryText query,
            boolean snapshot,
            boolean progress,
            Optional<SqlNode> asOf,
            Optional<OnSlow> onSlow,
            OptionalLong bufferBytes)
            implements Syntax {}

    /** OVERRIDING .. VALUE of INSERT. */
    enum Overriding {
        NOTHING,
        SYSTEM_VALUE,
        USER_VALUE
    }

    /**
     * ON CONFLICT.
     *
     * @param target the columns of the key, where they are named
     * @param condition of the rows that an index has that is meant; those that there are have all rows
     * @param constraint the name of the key, where that is given
     * @param assignments of DO UPDATE; none is DO NOTHING
     * @param position in the text, from 1
     */
    record Conflict(
            List<SqlIdentifier> target,
            Optional<SqlNode> condition,
            Optional<SqlIdentifier> constraint,
            List<Assignment> assignments,
            Optional<SqlNode> where,
            int position) {}

    /**
     * INSERT.
     *
     * @param parts of columns that are given in part, by their places among {@code columns}, with subscripts: {@code a[2]}
     * @param source reads the rows' query; the syntax is right where there are {@code literals}
     * @param literals the same rows, where they are that simple
     * @param returning a select list; empty without RETURNING
     * @param with the queries that WITH names
     */
    record Insert(
            SqlIdentifier relation,
            Optional<SqlIdentifier> alias,
            List<SqlIdentifier> columns,
            Map<Integer, SqlNode> parts,
            Overriding overriding,
            Supplier<SqlNode> source,
            Optional<LiteralRows> literals,
            Optional<Conflict> conflict,
            List<SqlNode> returning,
            List<SqlNode> with)
            implements Syntax {
        /** The same to be bound as a query, whatever it is. */
        public Insert asQuery() {
            return new Insert(
                    relation, alias, columns, parts, overriding, source, Optional.empty(), conflict, returning, with);
        }
    }

    /**
     * One SET of an UPDATE: of several columns by a query that gives as many. DEFAULT is a value, too.
     *
     * @param part of one column, with subscripts, that the value is for: {@code a[2]}; empty for the whole column
     */
    record Assignment(List<SqlIdentifier> columns, SqlNode value, Optional<SqlNode> part) {
        public Assignment(List<SqlIdentifier> columns, SqlNode value) {
            this(columns, value, Optional.empty());
        }
    }

    record Update(
            SqlIdentifier relation,
            Optional<SqlIdentifier> alias,
            List<Assignment> assignments,
            Optional<SqlNode> from,
            Optional<SqlNode> where,
            List<SqlNode> returning,
            List<SqlNode> with)
            implements Syntax {}

    record Delete(
            SqlIdentifier relation,
            Optional<SqlIdentifier> alias,
            Optional<SqlNode> using,
            Optional<SqlNode> where,
            List<SqlNode> returning,
            List<SqlNode> with)
            implements Syntax {}

    /**
     * MERGE.
     *
     * @param source what stands behind USING
     */
    record Merge(
            SqlIdentifier relation,
            Optional<SqlIdentifier> alias,
            SqlNode source,
            SqlNode condition,
            List<MergeClause> clauses,
            List<SqlNode> returning,
            List<SqlNode> with)
            implements Syntax {}

    /** A change in WITH; {@code rows} is the name under which what it returns is read. */
    record Part(String name, String rows, Syntax change) {}

    /** WITH that changes rows, and the SELECT or change behind it. */
    record WithChanges(List<Part> parts, Syntax main) implements Syntax {}

    /** TRUNCATE; {@code restart}: and numbers begin again. */
    record Truncate(List<SqlIdentifier> relations, boolean restart) implements Syntax {}

    record CopyFrom(
            SqlIdentifier relation, List<SqlIdentifier> columns, Optional<String> file, Map<String, String> options)
            implements Syntax {}

    record CopyTo(Syntax source, Optional<String> file, Map<String, String> options) implements Syntax {}

    record DeclareCursor(String name, Syntax source, Optional<Boolean> scroll, boolean hold) implements Syntax {}

    /**
     * PREPARE.
     *
     * @param start of the prepared statement's text in the whole, in characters from 0
     * @param end after its last character
     * @param parameterCount the highest {@code $n} in it
     */
    record Prepare(String name, List<TypeSpec> types, Syntax statement, int start, int end, int parameterCount)
            implements Syntax {}

    record ExecutePrepared(String name, List<SqlNode> arguments) implements Syntax {}

    record Describe(SqlIdentifier relation) implements Syntax {}

    /** DESCRIBE of what a query gives. */
    record DescribeQuery(QueryText query) implements Syntax {}

    record Explain(Set<ExplainForm> forms, Syntax statement) implements Syntax {}

    record ExplainAnalyze(Syntax statement) implements Syntax {}
}
