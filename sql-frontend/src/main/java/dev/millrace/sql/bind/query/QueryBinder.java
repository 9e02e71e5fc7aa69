package dev.millrace.sql.bind.query;

import com.google.common.collect.ImmutableList;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.sql.algebra.TypeMapper;
import dev.millrace.sql.bind.expression.AggregateBinder.SortSyntax;
import dev.millrace.sql.bind.expression.ExpressionBinder;
import dev.millrace.sql.bind.expression.FunctionNames;
import dev.millrace.sql.bind.expression.OuterAggregates;
import dev.millrace.sql.bind.relation.Numbering;
import dev.millrace.sql.bind.relation.RelNodes;
import dev.millrace.sql.bind.scope.BoundQuery;
import dev.millrace.sql.bind.scope.Clause;
import dev.millrace.sql.bind.scope.From;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.scope.Scope;
import dev.millrace.sql.bind.subquery.SubQueries;
import dev.millrace.sql.bind.type.Coercions;
import dev.millrace.sql.bind.type.Coercions.Strength;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.sql.statement.Emit;
import dev.millrace.sql.statement.Query;
import dev.millrace.sql.syntax.FromClauses;
import dev.millrace.sql.syntax.MarkedItem;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.calcite.rel.RelCollations;
import org.apache.calcite.rel.RelFieldCollation;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rel.logical.LogicalValues;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rel.type.RelDataTypeField;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlBasicCall;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNumericLiteral;
import org.apache.calcite.sql.SqlOrderBy;
import org.apache.calcite.sql.SqlSelect;
import org.apache.calcite.sql.SqlWith;
import org.apache.calcite.sql.SqlWithItem;

/** Binds a query: WITH, set operations, VALUES, and the ORDER BY around them; one SELECT is {@link SelectBinder}'s. */
public final class QueryBinder {
    /** A query whose last project is not made yet, so that columns of open type can still get one. */
    public record Pending(
            RelNode input, List<RexNode> columns, List<String> names, Optional<CorrelationId> correlation) {
        public BoundQuery bound() {
            boolean identity = columns.equals(RelNodes.references(input))
                    && names.equals(input.getRowType().getFieldNames());
            return new BoundQuery(identity ? input : RelNodes.project(input, columns, names, correlation), names);
        }
    }

    private final QueryContext context;
    private final Optional<Scope> outer;
    private final Map<String, BoundQuery> commonTables;

    public QueryBinder(QueryContext context, Optional<Scope> outer) {
        this(context, outer, outer.map(Scope::commonTables).orElse(Map.of()));
    }

    private QueryBinder(QueryContext context, Optional<Scope> outer, Map<String, BoundQuery> commonTables) {
        this.context = context;
        this.outer = outer;
        this.commonTables = commonTables;
    }

    /** Binds a query that stands in an expression. */
    public static BoundQuery within(QueryContext context, SqlNode query, Scope around) {
        return new QueryBinder(context, Optional.of(around)).bind(query, List.of());
    }

    /** The query that a bound one is, in the context it was bound in. */
    public static Query query(QueryContext context, RelNode rel, List<String> names, Emit emit) {
        RelNode withoutSubQueries = context.hasSubQueries() ? SubQueries.remove(rel, context.hasLookups()) : rel;
        List<Field> fields = new ArrayList<>(names.size());
        for (RelDataTypeField field : withoutSubQueries.getRowType().getFieldList()) {
            fields.add(new Field(
                    names.get(field.getIndex()),
                    TypeMapper.dataType(field.getType()),
                    field.getType().isNullable()));
        }
        return new Query(
                withoutSubQueries,
                new Schema(fields),
                emit,
                context.relations(),
                context.named(),
                Map.of(),
                context.files(),
                RecursionBinder.readBy(withoutSubQueries, context.recursions()));
    }

    /** A binder for a query inside this one. */
    QueryBinder nested(Optional<Scope> around) {
        return new QueryBinder(context, around, commonTables);
    }

    /** A binder for which a name means these rows. */
    QueryBinder naming(String name, BoundQuery rows) {
        Map<String, BoundQuery> tables = new HashMap<>(commonTables);
        tables.put(name, rows);
        return new QueryBinder(context, outer, tables);
    }

    public Map<String, BoundQuery> commonTables() {
        return commonTables;
    }

    /** The query that WITH gave this name. */
    Optional<BoundQuery> commonTable(String name) {
        return Optional.ofNullable(commonTables.get(name));
    }

    /** @param expected types for columns whose type is open, where the place gives them */
    public BoundQuery bind(SqlNode query, List<DataType> expected) {
        return pending(query, OrderLimit.NONE, expected, false).bound();
    }

    private Pending pending(SqlNode query, OrderLimit order, List<DataType> expected, boolean keepUnknown) {
        Interrupt.checkCurrent();
        if (query instanceof SqlOrderBy orderBy) {
            return ordered(orderBy, order, expected);
        }
        if (query instanceof SqlWith with) {
            return with(with.withList.getList()).pending(with.body, order, expected, keepUnknown);
        }
        if (query instanceof SqlSelect select) {
            Optional<BucketGaps.Rewritten> filled = BucketGaps.rewrite(select, order, this, context);
            if (filled.isPresent()) {
                return filled.get()
                        .queries()
                        .pending(filled.get().select(), filled.get().order(), expected, keepUnknown);
            }
            SelectBinder binder = new SelectBinder(context, this, outer, select, order);
            try {
                return binder.bind(expected, keepUnknown);
            } catch (OuterAggregates.Found found) {
                if (!binder.owns(found)) {
                    throw found;
                }
                return new SelectBinder(context, this, outer, select, order)
                        .groupedFromWithin()
                        .bind(expected, keepUnknown);
            }
        }
        Pending pending = switch (query.getKind()) {
            case UNION, INTERSECT, EXCEPT -> setOperation((SqlBasicCall) query, expected);
            case VALUES -> values((SqlCall) query, expected);
            case EXPLICIT_TABLE -> table((SqlCall) query);
            default -> throw Errors.error(SqlState.SYNTAX_ERROR, "a query is expected here", query);
        };
        return order.isEmpty() ? pending : sorted(pending, order);
    }

    // ---- ORDER BY and LIMIT ----------------------------------------------------------------------------------------

    private Pending ordered(SqlOrderBy node, OrderLimit around, List<DataType> expected) {
        List<SqlNode> keys = new ArrayList<>(SelectBinder.items(node.orderList));
        boolean withTies = keys.removeIf(
                key -> key instanceof SqlIdentifier name && name.names.equals(List.of(FromClauses.WITH_TIES)));
        Optional<RexNode> offset =
                computed(keys, FromClauses.OFFSET_IS, "OFFSET").or(() -> count(node.offset, "OFFSET"));
        Optional<RexNode> limit = computed(keys, FromClauses.LIMIT_IS, "LIMIT").or(() -> count(node.fetch, "LIMIT"));
        OrderLimit own = new OrderLimit(keys, offset, limit, withTies);
        if (around.isEmpty()) {
            return pending(node.query, own, expected, false);
        }
        return sorted(pending(node.query, own, expected, false), around);
    }

    /** Takes the order key that stands for a count which the grammar does not read. */
    private Optional<RexNode> computed(List<SqlNode> keys, String name, String clause) {
        Optional<SqlCall> call = keys.stream()
                .filter(SqlCall.class::isInstance)
                .map(SqlCall.class::cast)
                .filter(key -> FunctionNames.of(key).equals(Optional.of(name)))
                .findFirst();
        call.ifPresent(keys::remove);
        return call.flatMap(key -> count(key.operand(0), clause));
    }

    private Optional<RexNode> count(SqlNode node, String clause) {
        if (node == null) {
            return Optional.empty();
        }
        ExpressionBinder binder =
                new ExpressionBinder(context, Scope.empty(Optional.empty(), context), Clause.plain(clause));
        RexNode count = binder.bindAs(node, DataType.BIGINT);
        if (RexUtil.SubQueryFinder.find(count) != null) {
            throw Errors.notAvailableYet("a " + clause + " that depends on rows", node)
                    .withHint("QUALIFY row_number() OVER (ORDER BY ..) <= (SELECT ..)");
        }
        if (OrderLimit.isNegative(count)) {
            SqlState state = clause.equals("OFFSET")
                    ? SqlState.INVALID_ROW_COUNT_IN_RESULT_OFFSET_CLAUSE
                    : SqlState.INVALID_ROW_COUNT_IN_LIMIT_CLAUSE;
            throw Errors.error(state, clause + " must not be negative", node);
        }
        return count instanceof RexLiteral literal && literal.isNull() ? Optional.empty() : Optional.of(count);
    }

    /** Sorts by output columns. */
    private Pending sorted(Pending pending, OrderLimit order) {
        BoundQuery bound = pending.bound();
        List<RelFieldCollation> collation = new ArrayList<>();
        RelNode input = bound.rel();
        List<RexNode> keys = new ArrayList<>(RelNodes.references(input));
        List<String> keyNames = new ArrayList<>(input.getRowType().getFieldNames());
        Scope scope = new Scope(
                outer, From.of(input, "", bound.names()).columns(), input.getRowType(), context, commonTables);
        for (SqlNode node : order.order()) {
            SortSyntax syntax = SortSyntax.of(node);
            if (syntax.value() instanceof SqlIdentifier name && name.names.equals(List.of(FromClauses.ALL_COLUMNS))) {
                for (int i = 0; i < bound.names().size(); i++) {
                    collation.add(OrderLimit.collation(i, syntax));
                }
                continue;
            }
            int column = outputColumn(syntax.value(), bound.names());
            if (column < 0) {
                column = keys.size();
                keys.add(context.coercions()
                        .decided(new ExpressionBinder(context, scope, Clause.plain("ORDER BY")).bind(syntax.value())));
                keyNames.add("sort_key");
            }
            collation.add(OrderLimit.collation(column, syntax));
        }
        RelNode keyed = keys.size() == bound.names().size()
                ? input
                : RelNodes.project(input, keys, keyNames, scope.correlation());
        RelNode rel = order.withTies() ? Numbering.withTies(keyed, collation, order.offset(), order.fetch()) : keyed;
        RelNode sorted = order.withTies()
                ? RelNodes.sort(rel, RelCollations.of(collation), Optional.empty(), Optional.empty())
                : RelNodes.sort(rel, RelCollations.of(collation), order.offset(), order.fetch());
        List<RexNode> visible =
                RelNodes.references(sorted).subList(0, bound.names().size());
        return new Pending(sorted, visible, bound.names(), Optional.empty());
    }

    /** The place of a column by its name or number; -1 for an expression. */
    private static int outputColumn(SqlNode node, List<String> names) {
        if (node instanceof SqlIdentifier name && name.isSimple()) {
            int column = names.indexOf(name.getSimple());
            if (column < 0) {
                throw Errors.suggest(
                        Errors.error(
                                SqlState.UNDEFINED_COLUMN, "column \"" + name.getSimple() + "\" does not exist", name),
                        name.getSimple(),
                        names);
            }
            return column;
        }
        if (node instanceof SqlNumericLiteral literal && literal.isInteger()) {
            int position = literal.intValue(true);
            if (position >= 1 && position <= names.size()) {
                return position - 1;
            }
            throw Errors.error(
                    SqlState.INVALID_COLUMN_REFERENCE,
                    "ORDER BY position " + position + " is not in select list",
                    node);
        }
        return -1;
    }

    // ---- WITH ------------------------------------------------------------------------------------------------------

    /** A binder that knows the queries which WITH names. */
    public QueryBinder with(List<SqlNode> items) {
        Map<String, BoundQuery> tables = new HashMap<>(commonTables);
        QueryBinder binder = new QueryBinder(context, outer, tables);
        Set<String> names = new HashSet<>();
        for (SqlNode node : items) {
            SqlWithItem item = (SqlWithItem) node;
            String name = item.name.getSimple();
            if (!names.add(name)) {
                throw Errors.error(
                        SqlState.DUPLICATE_ALIAS,
                        "WITH query name \"" + name + "\" specified more than once",
                        item.name);
            }
            boolean recursive =
                    item.recursive != null && item.recursive.booleanValue() && SelfReferences.reads(item.query, name);
            if (item instanceof MarkedItem && !recursive) {
                throw Errors.error(SqlState.SYNTAX_ERROR, "WITH query is not recursive", item);
            }
            if (recursive && context.allowsRecursion()) {
                QueryBinder inside = new QueryBinder(context, Optional.empty(), tables);
                tables.put(name, new RecursionBinder(context, inside).bind(item));
                continue;
            }
            if (recursive) {
                throw recursive(item);
            }
            BoundQuery bound = binder.bind(item.query, List.of());
            tables.put(name, new BoundQuery(bound.rel(), columnNames(item, bound.names())));
        }
        return binder;
    }

    /** The names that WITH gives to the columns of a query, and those that it has itself. */
    static List<String> columnNames(SqlWithItem item, List<String> own) {
        List<String> names = new ArrayList<>(own);
        if (item.columnList == null) {
            return names;
        }
        if (item.columnList.size() > names.size()) {
            throw Errors.error(
                    SqlState.INVALID_COLUMN_REFERENCE,
                    "WITH query \"" + item.name.getSimple() + "\" has " + names.size() + " columns available but "
                            + item.columnList.size() + " columns specified",
                    item.name);
        }
        for (int i = 0; i < item.columnList.size(); i++) {
            names.set(i, ((SqlIdentifier) item.columnList.get(i)).getSimple());
        }
        return names;
    }

    private static MillraceException recursive(SqlWithItem item) {
        return Errors.error(
                        SqlState.FEATURE_NOT_SUPPORTED,
                        "WITH RECURSIVE is not supported here: an answer kept current is computed from its inputs, and \""
                                + item.name.getSimple() + "\" is computed from itself",
                        item)
                .withHint("what is answered once can be recursive; else join the relation with itself as often"
                        + " as the depth that is known; MATCH_RECOGNIZE follows chains of rows");
    }

    // ---- leaves ----------------------------------------------------------------------------------------------------

    private Pending table(SqlCall call) {
        From from = new FromBinder(context, this, outer).bind(call.operand(0));
        List<String> names = from.columns().stream().map(Scope.Column::name).toList();
        return new Pending(from.rel(), RelNodes.references(from.rel()), names, Optional.empty());
    }

    private Pending values(SqlCall call, List<DataType> expected) {
        Scope scope = Scope.empty(outer, context, commonTables);
        ExpressionBinder binder = new ExpressionBinder(context, scope, Clause.plain("VALUES"));
        List<List<RexNode>> rows = new ArrayList<>();
        for (SqlNode row : call.getOperandList()) {
            List<SqlNode> items = ((SqlCall) row).getOperandList();
            for (SqlNode item : items) {
                if (item.getKind() == SqlKind.DEFAULT) {
                    throw Errors.error(SqlState.SYNTAX_ERROR, "DEFAULT is not allowed in this context", item)
                            .withHint("it is for the VALUES of an INSERT, right behind its columns");
                }
            }
            rows.add(binder.bindAll(items));
            if (rows.get(0).size() != items.size()) {
                throw Errors.error(SqlState.SYNTAX_ERROR, "VALUES lists must all be the same length", row);
            }
        }
        List<DataType> types = new ArrayList<>();
        List<String> names = new ArrayList<>();
        for (int column = 0; column < rows.get(0).size(); column++) {
            names.add("column" + (column + 1));
            types.add(column < expected.size() ? expected.get(column) : commonType(rows, column, call));
        }
        Strength strength = expected.isEmpty() ? Strength.IMPLICIT : Strength.ASSIGNMENT;
        boolean constant = true;
        for (int row = 0; row < rows.size(); row++) {
            List<SqlNode> items = ((SqlCall) call.operand(row)).getOperandList();
            List<RexNode> values = new ArrayList<>();
            for (int column = 0; column < types.size(); column++) {
                RexNode value = context.coercions()
                        .convert(rows.get(row).get(column), types.get(column), strength, items.get(column));
                constant &= value instanceof RexLiteral;
                values.add(value);
            }
            rows.set(row, values);
        }
        RelNode rel = constant ? constantRows(rows, types, names) : ComputedRows.of(context.cluster(), rows, names);
        return new Pending(rel, RelNodes.references(rel), names, Optional.empty());
    }

    private static DataType commonType(List<List<RexNode>> rows, int column, SqlNode where) {
        List<RexNode> nodes = rows.stream().map(row -> row.get(column)).toList();
        return Coercions.common(nodes)
                .orElseThrow(() -> Errors.error(
                        SqlState.DATATYPE_MISMATCH,
                        "VALUES types in column " + (column + 1) + " cannot be matched",
                        where));
    }

    private RelNode constantRows(List<List<RexNode>> rows, List<DataType> types, List<String> names) {
        ImmutableList.Builder<ImmutableList<RexLiteral>> tuples = ImmutableList.builder();
        boolean[] nullable = new boolean[types.size()];
        for (List<RexNode> row : rows) {
            ImmutableList.Builder<RexLiteral> tuple = ImmutableList.builder();
            for (int column = 0; column < types.size(); column++) {
                RexLiteral literal = (RexLiteral) row.get(column);
                nullable[column] |= literal.isNull();
                tuple.add(literal);
            }
            tuples.add(tuple.build());
        }
        List<RelDataType> relTypes = new ArrayList<>();
        for (int column = 0; column < types.size(); column++) {
            relTypes.add(TypeMapper.relType(types.get(column), nullable[column]));
        }
        return LogicalValues.create(
                context.cluster(), TypeMapper.factory().createStructType(relTypes, names), tuples.build());
    }

    // ---- set operations --------------------------------------------------------------------------------------------

    private Pending setOperation(SqlBasicCall call, List<DataType> expected) {
        return new SetOperationBinder(query -> pending(query, OrderLimit.NONE, expected, true), context.coercions())
                .bind(call);
    }
}
