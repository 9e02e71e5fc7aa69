package dev.millrace.sql.bind.scope;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.IntervalValue;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.algebra.TypeMapper;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rel.type.RelDataTypeFactory;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlIdentifier;

/** The columns that names can mean in one SELECT, and around it those of the queries it is in. */
public final class Scope {
    /**
     * A column of the FROM clause.
     *
     * @param qualifier the alias of its relation
     * @param index in the row of the whole FROM clause
     * @param hidden whether only its qualified name finds it: the second of two that USING made one
     * @param schema that of its relation, which names may give before the qualifier; none (empty) for what an alias names
     */
    public record Column(String qualifier, String name, int index, RelDataType type, boolean hidden, String schema) {
        /** One that no schema can be said of. */
        public Column(String qualifier, String name, int index, RelDataType type, boolean hidden) {
            this(qualifier, name, index, type, hidden, "");
        }

        /** Its name behind that of its relation. */
        List<String> names() {
            return schema.isEmpty() ? List.of(qualifier, name) : List.of(schema, qualifier, name);
        }

        /** Whether two are of relations that may have one name, being in different schemas. */
        public boolean isOfOtherSchema(Column other) {
            return !schema.isEmpty() && !other.schema.isEmpty() && !schema.equals(other.schema);
        }

        /** The same, perhaps hidden. */
        public Column hidden(boolean isHidden) {
            return new Column(qualifier, name, index, type, isHidden, schema);
        }

        /** Whether this is a column of PostgreSQL's system relations that only its name finds. */
        public boolean isOfSystem() {
            return hidden && SYSTEM.contains(name);
        }

        /** Whether this is none of the columns that its relation's row has. */
        public boolean isBeside() {
            return isOfSystem() || hidden && name.equals(IS_THERE);
        }
    }

    private static final String WINDOW_TIME = "window_time";
    private static final Literal ONE_MICROSECOND = new Literal(new IntervalValue(0, 0, 1), DataType.INTERVAL);

    /** The number of the relation that a row of a system relation is of: the first of the columns that {@code *} does not give. */
    public static final String OWN_NUMBER = "tableoid";

    private static final Set<String> SYSTEM = Set.of(OWN_NUMBER, "xmin");

    /** Beside rows that an outer join may miss, where they are read as a whole: NULL where it does. */
    public static final String IS_THERE = "is there";

    private final Optional<Scope> outer;
    private Runnable onRead = () -> {}; // of a probe: told when a name is found here
    private final List<Column> columns;
    private final RelDataType rowType;
    private final QueryContext context;
    private Object row = new Object(); // the same for all scopes of one FROM clause
    private Optional<CorrelationId> correlation = Optional.empty();
    private final Set<Integer> correlated = new LinkedHashSet<>();
    private final Map<String, BoundQuery> commonTables;
    private Optional<CorrelationId> groupCorrelation = Optional.empty();
    private boolean grouped;
    private Optional<Clause> clause = Optional.empty();

    public Scope(Optional<Scope> outer, List<Column> columns, RelDataType rowType, QueryContext context) {
        this(outer, columns, rowType, context, Map.of());
    }

    /** @param commonTables what WITH named around here, for queries inside expressions */
    public Scope(
            Optional<Scope> outer,
            List<Column> columns,
            RelDataType rowType,
            QueryContext context,
            Map<String, BoundQuery> commonTables) {
        this.commonTables = commonTables;
        this.outer = outer;
        this.columns = List.copyOf(columns);
        this.rowType = rowType;
        this.context = context;
    }

    public QueryContext context() {
        return context;
    }

    /** A column of the row, whether or not a name finds it. */
    public RexNode reference(int column) {
        return new RexInputRef(column, rowType.getFieldList().get(column).getType());
    }

    /** The same row with other columns to be seen; inner queries refer to it by this scope's variable. */
    public Scope seeing(List<Column> visible) {
        if (correlation.isEmpty()) {
            correlation = Optional.of(context.cluster().createCorrel());
        }
        Scope narrowed = new Scope(outer, visible, rowType, context, commonTables);
        narrowed.correlation = correlation;
        narrowed.row = row;
        return narrowed;
    }

    /** A scope without columns of its own. */
    public static Scope empty(Optional<Scope> outer, QueryContext context) {
        return empty(outer, context, outer.map(Scope::commonTables).orElse(Map.of()));
    }

    /** One without columns where WITH names queries. */
    public static Scope empty(Optional<Scope> outer, QueryContext context, Map<String, BoundQuery> commonTables) {
        return new Scope(
                outer, List.of(), context.cluster().getTypeFactory().builder().build(), context, commonTables);
    }

    public List<Column> columns() {
        return columns;
    }

    /** The name of a column of this scope's row, as messages give it. */
    public String nameOf(int index) {
        Column column = columns.stream()
                .filter(candidate -> candidate.index() == index)
                .findFirst()
                .orElseThrow();
        return column.qualifier().isEmpty() ? column.name() : column.qualifier() + "." + column.name();
    }

    public Map<String, BoundQuery> commonTables() {
        return commonTables;
    }

    public Optional<Scope> outer() {
        return outer;
    }

    /** From here on expressions see groups: inner queries refer to them by {@link #groupCorrelation}. */
    public void setGrouped() {
        grouped = true;
    }

    public boolean isGrouped() {
        return grouped;
    }

    /** The clause whose expressions hold the query that is being bound inside; none for one in FROM. */
    public Optional<Clause> clause() {
        return clause;
    }

    public void setClause(Optional<Clause> newClause) {
        clause = newClause;
    }

    /** Whether a name is that of a column of this scope, or of a relation as a whole. */
    public boolean names(SqlIdentifier name) {
        return find(name).isPresent() || name.isSimple() && has(name.getSimple());
    }

    /** An aggregate of this scope's groups, which a column behind those of the rows stands for, for an inner query. */
    public RexNode ofCall(RexInputRef call) {
        if (groupCorrelation.isEmpty()) {
            groupCorrelation = Optional.of(context.cluster().createCorrel());
        }
        RelDataTypeFactory.Builder row = context.cluster().getTypeFactory().builder();
        row.addAll(rowType.getFieldList());
        for (int column = rowType.getFieldCount(); column <= call.getIndex(); column++) {
            row.add("aggregate " + column, call.getType());
        }
        return Rex.builder()
                .makeFieldAccess(Rex.builder().makeCorrel(row.build(), groupCorrelation.get()), call.getIndex());
    }

    /** The variable through which inner queries refer to a group, by the columns of the rows grouped, if one does. */
    public Optional<CorrelationId> groupCorrelation() {
        return groupCorrelation;
    }

    /** The variable through which inner queries refer to this scope's row, if one does. */
    public Optional<CorrelationId> correlation() {
        return correlation;
    }

    /** The columns that inner queries refer to. */
    public Set<Integer> correlatedColumns() {
        return correlated;
    }

    /**
     * A copy of this scope and those around it, to find out which of them a query inside would read.
     *
     * @param reader is told of each of these scopes in which a name is found
     */
    public Scope probe(Consumer<Scope> reader) {
        Scope copy = new Scope(outer.map(around -> around.probe(reader)), columns, rowType, context, commonTables);
        copy.row = row;
        copy.onRead = () -> reader.accept(this);
        return copy;
    }

    /** The column of a name; 42703, 42702 or 42P01. */
    public RexNode resolve(SqlIdentifier name) {
        for (Optional<Scope> scope = Optional.of(this); scope.isPresent(); scope = scope.get().outer) {
            Optional<Column> column = scope.get().find(name);
            if (column.isPresent()) {
                scope.get().onRead.run();
                return scope.get() == this
                        ? new RexInputRef(column.get().index(), column.get().type())
                        : scope.get().correlated(column.get());
            }
        }
        return windowTime(name).orElseThrow(() -> notFound(name));
    }

    /** Flink's {@code window_time}: the last instant of the window, by which rows of windows fall into windows again. */
    private Optional<RexNode> windowTime(SqlIdentifier name) {
        int last = name.names.size() - 1;
        if (!name.names.get(last).equals(WINDOW_TIME)) {
            return Optional.empty();
        }
        return find(name.setName(last, "window_end"))
                .filter(end -> TypeMapper.dataType(end.type()).isTimestamp())
                .map(end -> context.functions()
                        .operator(
                                "subtract",
                                List.of(new RexInputRef(end.index(), end.type()), Rex.literal(ONE_MICROSECOND)),
                                name));
    }

    private RexNode correlated(Column column) {
        if (!grouped) {
            return correlated(column.index());
        }
        if (groupCorrelation.isEmpty()) {
            groupCorrelation = Optional.of(context.cluster().createCorrel());
        }
        return access(groupCorrelation.get(), column.index());
    }

    /** A column of this scope's row for an inner query. */
    public RexNode correlated(int column) {
        if (correlation.isEmpty()) {
            correlation = Optional.of(context.cluster().createCorrel());
        }
        correlated.add(column);
        return access(correlation.get(), column);
    }

    private RexNode access(CorrelationId id, int column) {
        return Rex.builder().makeFieldAccess(Rex.builder().makeCorrel(rowType, id), column);
    }

    /** Whether this scope or one around it has the column. */
    public boolean finds(SqlIdentifier name) {
        return find(name).isPresent() || outer.isPresent() && outer.get().finds(name);
    }

    /** Whether this scope, without the outer ones, has a column or relation of this name. */
    boolean has(String name) {
        return columns.stream()
                .anyMatch(column -> column.name().equals(name) && !column.hidden()
                        || column.qualifier().equals(name));
    }

    /** A column that {@link #ofRelation} gave. */
    public RexNode reference(Column column) {
        for (Scope scope = this; ; scope = scope.outer.orElseThrow()) {
            if (scope.columns.stream().anyMatch(own -> own.qualifier().equals(column.qualifier()))) {
                scope.onRead.run();
                return scope == this ? new RexInputRef(column.index(), column.type()) : scope.correlated(column);
            }
        }
    }

    /** Whether an outer join may have found no row of the relation; a column {@link #IS_THERE} says whether it has. */
    public boolean mayBeMissing(String qualifier) {
        for (Optional<Scope> scope = Optional.of(this); scope.isPresent(); scope = scope.get().outer) {
            List<Column> found = scope.get().columns.stream()
                    .filter(column -> column.qualifier().equals(qualifier))
                    .toList();
            if (!found.isEmpty()) {
                return found.stream().anyMatch(column -> column.isBeside() && !column.isOfSystem());
            }
        }
        return false;
    }

    /** The columns of a relation of this scope or one around it. */
    public List<Column> ofRelation(String qualifier) {
        for (Optional<Scope> scope = Optional.of(this); scope.isPresent(); scope = scope.get().outer) {
            List<Column> found = scope.get().columns.stream()
                    .filter(column -> column.qualifier().equals(qualifier) && !column.isBeside())
                    .toList();
            if (!found.isEmpty()) {
                return found;
            }
        }
        return List.of();
    }

    /** The column of this scope, without the outer ones. */
    public Optional<Column> find(SqlIdentifier name) {
        if (name instanceof OperandName operand && isInside(operand.scope())) {
            return Optional.empty();
        }
        List<String> parts = name.names;
        String columnName = parts.get(parts.size() - 1);
        Optional<Column> found = Optional.empty();
        for (Column column : columns) {
            boolean matches = column.name().equals(columnName)
                    && (parts.size() == 1
                            ? !column.hidden() || column.isOfSystem()
                            : isOf(column, parts.subList(0, parts.size() - 1)));
            if (matches) {
                if (found.isPresent()) {
                    requireOneRelation(found.get(), name);
                    throw Errors.error(
                            SqlState.AMBIGUOUS_COLUMN, "column reference \"" + columnName + "\" is ambiguous", name);
                }
                found = Optional.of(column);
            }
        }
        found.ifPresent(column -> requireOneRelation(column, name));
        return found.isEmpty() && parts.size() == 1 ? rowOfOneValue(columnName) : found;
    }

    /** A qualifier without a schema may not be that of relations in several. */
    private void requireOneRelation(Column found, SqlIdentifier name) {
        if (name.names.size() != 2) {
            return;
        }
        for (Column column : columns) {
            if (column.qualifier().equals(found.qualifier()) && column.isOfOtherSchema(found)) {
                throw Errors.error(
                                SqlState.AMBIGUOUS_ALIAS,
                                "table reference \"" + found.qualifier() + "\" is ambiguous",
                                name)
                        .withHint("write its schema before it: " + found.schema() + "." + found.qualifier());
            }
        }
    }

    /** Whether a column's relation has this name, which may begin with its schema. */
    private static boolean isOf(Column column, List<String> relation) {
        int last = relation.size() - 1;
        return column.qualifier().equals(relation.get(last))
                && (last == 0
                        || last == 1
                                && !column.schema().isEmpty()
                                && column.schema().equals(relation.get(0)));
    }

    /** Whether this is the scope of a query that is in another one. */
    private boolean isInside(Scope other) {
        for (Optional<Scope> around = outer; around.isPresent(); around = around.get().outer) {
            if (around.get().row == other.row) {
                return row != other.row;
            }
        }
        return false;
    }

    /** A function's rows of one value by their alias, as in {@code jsonb_array_elements(..) AS e}, whose column is "value". */
    private Optional<Column> rowOfOneValue(String qualifier) {
        List<Column> row = columns.stream()
                .filter(column -> column.qualifier().equals(qualifier) && !column.isBeside())
                .toList();
        return row.size() == 1 && row.get(0).name().equals("value") ? Optional.of(row.get(0)) : Optional.empty();
    }

    /** All columns that a star stands for. */
    public List<Column> star(SqlIdentifier star) {
        List<String> parts = star.names;
        if (parts.size() == 1) {
            return columns.stream().filter(column -> !column.hidden()).toList();
        }
        List<String> relation = parts.subList(0, parts.size() - 1);
        List<Column> matching = columns.stream()
                .filter(column -> isOf(column, relation) && !column.isBeside())
                .toList();
        if (matching.isEmpty()) {
            throw missingRelation(relation, star);
        }
        requireOneRelation(matching.get(0), star);
        return matching;
    }

    private MillraceException notFound(SqlIdentifier name) {
        List<String> parts = name.names;
        String columnName = parts.get(parts.size() - 1);
        List<Column> visible = new ArrayList<>();
        for (Optional<Scope> scope = Optional.of(this); scope.isPresent(); scope = scope.get().outer) {
            visible.addAll(scope.get().columns);
        }
        if (parts.size() == 1) {
            return Errors.suggest(
                    Errors.error(SqlState.UNDEFINED_COLUMN, "column \"" + columnName + "\" does not exist", name),
                    columnName,
                    visible.stream().map(Column::name).toList());
        }
        List<String> relation = parts.subList(0, parts.size() - 1);
        String qualifier = relation.get(relation.size() - 1);
        List<Column> ofRelation =
                visible.stream().filter(column -> isOf(column, relation)).toList();
        if (ofRelation.isEmpty()) {
            return missingRelation(relation, name);
        }
        return Errors.suggest(
                Errors.error(
                        SqlState.UNDEFINED_COLUMN, "column " + qualifier + "." + columnName + " does not exist", name),
                columnName,
                ofRelation.stream().map(Column::name).toList());
    }

    private MillraceException missingRelation(List<String> relation, SqlIdentifier name) {
        String qualifier = relation.get(relation.size() - 1);
        MillraceException missing = Errors.error(
                SqlState.UNDEFINED_TABLE,
                (relation.size() == 1 ? "missing" : "invalid reference to") + " FROM-clause entry for table \""
                        + qualifier + "\"",
                name);
        if (relation.size() == 1) {
            return Errors.suggest(
                    missing,
                    qualifier,
                    columns.stream().map(Column::qualifier).distinct().toList());
        }
        return columns.stream().anyMatch(column -> column.qualifier().equals(qualifier))
                ? missing.withHint("there is an entry for table \"" + qualifier + "\", but not of \""
                        + String.join(".", relation.subList(0, relation.size() - 1)) + "\"")
                : missing;
    }
}
