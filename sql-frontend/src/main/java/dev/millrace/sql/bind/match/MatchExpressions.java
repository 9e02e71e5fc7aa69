package dev.millrace.sql.bind.match;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.match.MatchValue;
import dev.millrace.plan.match.MatchValue.Content;
import dev.millrace.sql.algebra.Aggregates;
import dev.millrace.sql.algebra.TypeMapper;
import dev.millrace.sql.bind.expression.AggregateBinder;
import dev.millrace.sql.bind.expression.AggregateSyntax;
import dev.millrace.sql.bind.expression.ExpressionBinder;
import dev.millrace.sql.bind.expression.FunctionNames;
import dev.millrace.sql.bind.scope.AggregateCalls;
import dev.millrace.sql.bind.scope.Clause;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.scope.Scope;
import dev.millrace.sql.bind.scope.Scope.Column;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlNumericLiteral;
import org.apache.calcite.sql.fun.SqlCase;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.apache.calcite.sql.util.SqlShuttle;

/**
 * Binds expressions of DEFINE and MEASURES. What they take from a match ({@code A.x}, {@code PREV(x)},
 * {@code count(A.*)}, {@code CLASSIFIER()}) becomes a column of its own; the rest is bound over these as any expression.
 */
final class MatchExpressions {
    private static final Set<Function> AGGREGATES =
            Set.of(Function.COUNT, Function.SUM, Function.AVG, Function.MIN, Function.MAX);

    /** What a condition or the measures read of a match. */
    static final class Values {
        private final List<MatchValue> values = new ArrayList<>();

        List<MatchValue> all() {
            return List.copyOf(values);
        }

        /** The place of a value, added if it is new. */
        int add(MatchValue value) {
            int known = values.indexOf(value);
            if (known >= 0) {
                return known;
            }
            values.add(value);
            return values.size() - 1;
        }
    }

    private final QueryContext context;
    private final MatchSymbols symbols;
    private final Scope input;
    private final List<RexNode> inputColumns; // those of the relation, then arguments computed before
    private final Optional<OrderColumn> time;

    /** The first order key, for MATCH_ROWTIME. */
    record OrderColumn(int index, DataType type) {}

    MatchExpressions(
            QueryContext context,
            MatchSymbols symbols,
            Scope input,
            List<RexNode> inputColumns,
            Optional<OrderColumn> time) {
        this.context = context;
        this.symbols = symbols;
        this.input = input;
        this.inputColumns = inputColumns;
        this.time = time;
    }

    /** A condition of DEFINE. */
    RexNode condition(SqlNode node, Values values) {
        SqlNode rewritten = node.accept(new Rewriting(values, false, Optional.empty(), false));
        return binder(values, "DEFINE").bindCondition(rewritten);
    }

    /** An expression of MEASURES. */
    RexNode measure(SqlNode node, Values values) {
        SqlNode rewritten = node.accept(new Rewriting(values, true, Optional.empty(), false));
        return context.coercions().decided(binder(values, "MEASURES").bind(rewritten));
    }

    private ExpressionBinder binder(Values values, String clause) {
        List<Column> columns = new ArrayList<>();
        for (MatchValue value : values.all()) {
            columns.add(new Column(
                    "",
                    name(columns.size()),
                    columns.size(),
                    TypeMapper.relType(value.type(), value.nullable()),
                    false));
        }
        Scope scope = new Scope(
                Optional.empty(),
                columns,
                context.cluster().getTypeFactory().builder().build(),
                context);
        return new ExpressionBinder(context, scope, Clause.plain(clause));
    }

    /** No name a user can write: it has a blank. */
    private static String name(int value) {
        return "match value " + value;
    }

    // ---- what is of a match ----------------------------------------------------------------------------------------

    /** The row that a navigation goes to, from whatever symbol its columns name. */
    private record Row(boolean last, int steps, int shift, boolean whole) {
        static final Row CURRENT = new Row(true, 0, 0, false);
    }

    /** Puts columns in the place of what is taken of the match. */
    private final class Rewriting extends SqlShuttle {
        private final Values values;
        private final boolean measures;
        private final Optional<Row> row; // inside a navigation
        private final boolean whole; // FINAL
        private OptionalInt seen = OptionalInt.empty(); // the symbol that a navigation's columns name

        Rewriting(Values values, boolean measures, Optional<Row> row, boolean whole) {
            this.values = values;
            this.measures = measures;
            this.row = row;
            this.whole = whole;
        }

        private SqlNode put(MatchValue value, SqlNode where) {
            return new SqlIdentifier(name(values.add(value)), where.getParserPosition());
        }

        @Override
        public SqlNode visit(SqlIdentifier identifier) {
            if (identifier.isStar()) {
                throw Errors.error(SqlState.SYNTAX_ERROR, "\"*\" is not allowed here", identifier);
            }
            int symbol = symbols.of(identifier);
            Column column = columnOf(identifier);
            return navigated(
                    symbol, new Content.Column(column.index(), TypeMapper.dataType(column.type())), identifier);
        }

        private SqlNode navigated(int symbol, Content content, SqlNode where) {
            if (seen.isPresent() && seen.getAsInt() != symbol) {
                throw Errors.error(
                        SqlState.SYNTAX_ERROR,
                        "the columns of a navigation must be of one pattern variable, not of \""
                                + symbols.name(seen.getAsInt()) + "\" and \"" + symbols.name(symbol) + "\"",
                        where);
            }
            if (row.isPresent()) {
                seen = OptionalInt.of(symbol);
            }
            Row at = row.orElse(Row.CURRENT);
            return put(
                    new MatchValue.Navigation(symbol, at.last, at.steps, at.shift, at.whole || whole, content), where);
        }

        @Override
        public SqlNode visit(SqlCall call) {
            if (call.isA(SqlKind.QUERY)) {
                throw Errors.notAvailableYet("a sub-query in MATCH_RECOGNIZE", call)
                        .withHint("join what it reads with the input of MATCH_RECOGNIZE, as a column");
            }
            Optional<String> name = functionOf(call);
            if (name.isEmpty()) {
                return super.visit(call);
            }
            Optional<Function> aggregate = Aggregates.byName(name.get());
            if (aggregate.isPresent()) {
                return aggregate(aggregate.get(), call);
            }
            return switch (name.get()) {
                case "running", "final" -> modified(name.get(), call);
                case "prev", "next" -> physical(name.get(), call);
                case "first", "last" -> logical(name.get().equals("last"), 0, call);
                case "classifier" -> classifier(call);
                case "match_number" -> {
                    requireArguments(call, "match_number", 0, 0);
                    yield put(new MatchValue.Number(), call);
                }
                case "match_rowtime" -> rowTime(call);
                default -> super.visit(call);
            };
        }

        private SqlNode modified(String modifier, SqlCall call) {
            if (!measures) {
                throw Errors.error(
                        SqlState.SYNTAX_ERROR,
                        modifier.toUpperCase(Locale.ROOT)
                                + " is allowed in MEASURES only: in DEFINE the match is not complete",
                        call);
            }
            Optional<String> inner = call.operand(0) instanceof SqlCall of ? functionOf(of) : Optional.empty();
            boolean known = inner.isPresent()
                    && (Set.of("first", "last", "prev", "next", "classifier").contains(inner.get())
                            || Aggregates.byName(inner.get()).isPresent());
            if (!known) {
                throw Errors.error(
                        SqlState.SYNTAX_ERROR,
                        modifier.toUpperCase(Locale.ROOT) + " is followed by FIRST, LAST, CLASSIFIER or an aggregate",
                        call);
            }
            return call.operand(0).accept(new Rewriting(values, measures, row, modifier.equals("final")));
        }

        private SqlNode physical(String name, SqlCall call) {
            requireNoNavigation(call);
            requireArguments(call, name, 1, 2);
            int by = call.operandCount() == 1 ? 1 : offset(name, call.operand(1));
            int shift = name.equals("prev") ? -by : by;
            SqlNode argument = call.operand(0);
            if (argument instanceof SqlCall inner
                    && (SqlKind.RUNNING == inner.getKind() || SqlKind.FINAL == inner.getKind())
                    && measures) {
                boolean isFinal = inner.getKind() == SqlKind.FINAL;
                return new Rewriting(values, true, row, isFinal).shifted(shift, inner.operand(0), call);
            }
            return shifted(shift, argument, call);
        }

        private SqlNode shifted(int shift, SqlNode argument, SqlCall call) {
            if (argument instanceof SqlCall inner) {
                Optional<String> function = functionOf(inner);
                if (function.equals(Optional.of("first")) || function.equals(Optional.of("last"))) {
                    return logical(function.get().equals("last"), shift, inner);
                }
            }
            return at(new Row(true, 0, shift, whole), argument, call);
        }

        private SqlNode logical(boolean last, int shift, SqlCall call) {
            requireNoNavigation(call);
            String name = last ? "last" : "first";
            requireArguments(call, name, 1, 2);
            int steps = call.operandCount() == 1 ? 0 : offset(name, call.operand(1));
            return at(new Row(last, steps, shift, whole), call.operand(0), call);
        }

        /** An expression over the columns of one row; NULL as a whole where there is no such row. */
        private SqlNode at(Row target, SqlNode argument, SqlCall where) {
            Rewriting inner = new Rewriting(values, measures, Optional.of(target), false);
            SqlNode value = argument.accept(inner);
            if (inner.seen.isEmpty()) {
                throw Errors.error(SqlState.SYNTAX_ERROR, "a navigation needs a column of a row to go to", where);
            }
            boolean plain = argument instanceof SqlIdentifier
                    || argument instanceof SqlCall call && functionOf(call).equals(Optional.of("classifier"));
            if (plain) {
                return value;
            }
            SqlParserPos place = where.getParserPosition();
            SqlNode exists = put(
                    new MatchValue.Navigation(
                            inner.seen.getAsInt(),
                            target.last,
                            target.steps,
                            target.shift,
                            target.whole,
                            new Content.Exists()),
                    where);
            return new SqlCase(
                    place,
                    null,
                    new SqlNodeList(List.of(exists), place),
                    new SqlNodeList(List.of(value), place),
                    SqlLiteral.createNull(place));
        }

        private SqlNode classifier(SqlCall call) {
            requireArguments(call, "classifier", 0, 1);
            int symbol = symbols.universal();
            if (call.operandCount() == 1) {
                if (!(call.operand(0) instanceof SqlIdentifier variable) || variable.names.size() != 1) {
                    throw Errors.error(SqlState.SYNTAX_ERROR, "CLASSIFIER takes a pattern variable", call.operand(0));
                }
                symbol = symbols.named(variable);
            }
            return navigated(symbol, new Content.Classifier(), call);
        }

        private SqlNode rowTime(SqlCall call) {
            if (!measures || time.isEmpty()) {
                throw Errors.error(
                        SqlState.SYNTAX_ERROR, "MATCH_ROWTIME is for MEASURES of a match ordered by time", call);
            }
            OrderColumn column = time.get();
            return put(
                    new MatchValue.Navigation(
                            symbols.universal(), true, 0, 0, true, new Content.Column(column.index(), column.type())),
                    call);
        }

        private void requireNoNavigation(SqlCall call) {
            if (row.isPresent()) {
                throw Errors.error(
                        SqlState.SYNTAX_ERROR,
                        "navigations are nested as PREV(FIRST(..)) or NEXT(LAST(..)) and not otherwise",
                        call);
            }
        }

        // ---- aggregates --------------------------------------------------------------------------------------------

        private SqlNode aggregate(Function function, SqlCall call) {
            AggregateSyntax syntax = AggregateSyntax.of(call);
            if (row.isPresent()) {
                throw Errors.error(SqlState.GROUPING_ERROR, "an aggregate within a navigation", call);
            }
            if (!AGGREGATES.contains(function)
                    || syntax.distinct()
                    || syntax.filter().isPresent()
                    || !syntax.ordering().isEmpty()) {
                throw Errors.notAvailableYet("this aggregate in MATCH_RECOGNIZE", call)
                        .withHint("count, sum, avg, min and max are, without DISTINCT, FILTER and ORDER BY");
            }
            boolean star = syntax.arguments().size() == 1
                    && syntax.arguments().get(0) instanceof SqlIdentifier identifier
                    && identifier.isStar();
            if (star && function == Function.COUNT) {
                SqlIdentifier rows = (SqlIdentifier) syntax.arguments().get(0);
                int symbol = rows.names.size() == 1 ? symbols.universal() : symbols.qualifier(rows);
                return put(
                        new MatchValue.Aggregate(function, symbol, OptionalInt.empty(), whole, DataType.BIGINT), call);
            }
            Unqualified argument = new Unqualified();
            List<SqlNode> arguments = syntax.arguments().stream()
                    .map(node -> node.accept(argument))
                    .toList();
            ExpressionBinder binder = new ExpressionBinder(context, input, Clause.plain("an aggregate"));
            AggregateCalls.Call bound = new AggregateBinder(context, binder)
                    .bind(
                            function,
                            new AggregateSyntax(syntax.name(), arguments, false, Optional.empty(), List.of(), false),
                            call);
            RexNode value = bound.arguments().get(0);
            DataType type = TypeMapper.dataType(value.getType());
            if ((function == Function.SUM || function == Function.AVG) && type.kind() == Kind.INTERVAL) {
                throw Errors.notAvailableYet("a sum of intervals in MATCH_RECOGNIZE", call)
                        .withHint("sum seconds: sum(extract(epoch FROM a.i)), then make_interval(secs => ..)");
            }
            int column = inputColumns.indexOf(value);
            if (column < 0) {
                column = inputColumns.size();
                inputColumns.add(value);
            }
            return put(
                    new MatchValue.Aggregate(
                            function,
                            argument.symbol.orElse(symbols.universal()),
                            OptionalInt.of(column),
                            whole,
                            bound.type()),
                    call);
        }
    }

    /** Takes the pattern variable off the columns of an aggregate's argument. */
    private final class Unqualified extends SqlShuttle {
        private OptionalInt symbol = OptionalInt.empty();

        @Override
        public SqlNode visit(SqlIdentifier identifier) {
            if (identifier.isStar()) {
                return identifier;
            }
            int of = symbols.of(identifier);
            if (symbol.isPresent() && symbol.getAsInt() != of) {
                throw Errors.error(
                        SqlState.SYNTAX_ERROR,
                        "the columns of an aggregate must be of one pattern variable, not of \""
                                + symbols.name(symbol.getAsInt()) + "\" and \"" + symbols.name(of) + "\"",
                        identifier);
            }
            symbol = OptionalInt.of(of);
            columnOf(identifier);
            return identifier.getComponent(identifier.names.size() - 1);
        }

        @Override
        public SqlNode visit(SqlCall call) {
            Optional<String> name = functionOf(call);
            if (name.isPresent()
                    && Set.of("prev", "next", "first", "last", "classifier", "match_number", "running", "final")
                            .contains(name.get())) {
                throw Errors.error(SqlState.GROUPING_ERROR, "an aggregate's argument is computed of single rows", call);
            }
            return super.visit(call);
        }
    }

    private Column columnOf(SqlIdentifier identifier) {
        SqlIdentifier column = identifier.getComponent(identifier.names.size() - 1);
        return input.find(column).orElseThrow(() -> {
            input.resolve(column); // says what is wrong
            return MillraceException.internal("a column that is found and not found", new AssertionError());
        });
    }

    /** The function of a call, also of those that the grammar knows by themselves. */
    private static Optional<String> functionOf(SqlCall call) {
        return switch (call.getKind()) {
            case FIRST, LAST, PREV, NEXT, RUNNING, FINAL ->
                Optional.of(call.getKind().name().toLowerCase(Locale.ROOT));
            case FILTER, WITHIN_GROUP -> FunctionNames.of(call.operand(0));
            default -> FunctionNames.of(call);
        };
    }

    private static void requireArguments(SqlCall call, String function, int least, int most) {
        if (call.operandCount() < least || call.operandCount() > most) {
            throw Errors.error(
                    SqlState.UNDEFINED_FUNCTION,
                    function.toUpperCase(Locale.ROOT) + " takes "
                            + (least == most ? least == 0 ? "no" : "" + least : least + " or " + most)
                            + " arguments, not " + call.operandCount(),
                    call);
        }
    }

    private static int offset(String function, SqlNode node) {
        if (node instanceof SqlNumericLiteral literal && literal.isInteger()) {
            long value = literal.longValue(false);
            if (value >= 0 && value <= Integer.MAX_VALUE) {
                return (int) value;
            }
        }
        throw Errors.error(
                SqlState.INVALID_PARAMETER_VALUE,
                "the offset of " + function.toUpperCase(Locale.ROOT) + " must be a whole number, not negative",
                node);
    }
}
