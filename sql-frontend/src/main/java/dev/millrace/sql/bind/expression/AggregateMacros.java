package dev.millrace.sql.bind.expression;

import dev.millrace.error.SqlState;
import dev.millrace.sql.bind.expression.AggregateBinder.SortSyntax;
import dev.millrace.sql.bind.function.BuiltInFunctions;
import dev.millrace.sql.bind.scope.InlinedFunction;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.sql.catalog.Catalog;
import dev.millrace.sql.catalog.UserFunction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlSelectKeyword;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.apache.calcite.sql.util.SqlShuttle;
import org.apache.calcite.util.Litmus;

/**
 * Aggregates that are short for an expression over others, one a line of {@code aggregates.txt} beside this class:
 *
 * <pre>
 * median(x) FILTER (WHERE c)   is   percentile_cont(0.5) WITHIN GROUP (ORDER BY x) FILTER (WHERE c)
 * </pre>
 *
 * Safe on any thread.
 */
final class AggregateMacros {
    private static final BuiltInFunctions MACROS = new BuiltInFunctions("aggregates.txt");

    private static final Set<String> BY_BUCKETS = Set.of("approx_percentile");

    private AggregateMacros() {}

    static Set<String> names() {
        return MACROS.all();
    }

    /** Whether a name is that of such an aggregate, with some number of arguments. */
    static boolean contains(String name) {
        return MACROS.all().contains(name);
    }

    /** How an aggregate is called, if there is one. */
    static Optional<String> forms(String name) {
        return MACROS.describe(name);
    }

    /** What a call is short for, with or without OVER; nothing if a user has a function of that name. */
    static Optional<SqlNode> expand(SqlCall call, Catalog catalog) {
        boolean over = call.getKind() == SqlKind.OVER;
        if (over && !(call.operand(0) instanceof SqlCall)) {
            return Optional.empty();
        }
        SqlCall inner = over ? call.operand(0) : call;
        while (inner.getKind() == SqlKind.FILTER || inner.getKind() == SqlKind.WITHIN_GROUP) {
            inner = inner.operand(0);
        }
        Optional<String> name = FunctionNames.of(inner)
                .filter(each -> catalog.userFunction(each).isEmpty());
        if (name.filter(MACROS.all()::contains).isEmpty()) {
            return Optional.empty();
        }
        AggregateSyntax syntax = orderedFirst(AggregateSyntax.of(over ? call.operand(0) : call));
        int arguments = syntax.arguments().size();
        Optional<UserFunction> macro = name.flatMap(known -> MACROS.named(known, arguments));
        if (macro.isEmpty()) {
            return Optional.empty();
        }
        SqlNode body = InlinedFunction.body(macro.get(), syntax.arguments(), call);
        SqlNode window = over ? call.operand(1) : null;
        return Optional.of(body.accept(new Spread(syntax, Optional.ofNullable(window))));
    }

    /** {@code f(q) WITHIN GROUP (ORDER BY x)} as {@code f(x, q)}, for those whose buckets are what is to be in order, and not x itself. */
    private static AggregateSyntax orderedFirst(AggregateSyntax said) {
        if (!BY_BUCKETS.contains(said.name()) || said.ordering().size() != 1) {
            return said;
        }
        SortSyntax key = SortSyntax.of(said.ordering().get(0));
        if (key.descending()) {
            throw Errors.notAvailableYet(said.name() + " in descending order", key.value())
                    .withHint("1 - fraction in ascending order");
        }
        List<SqlNode> arguments = new ArrayList<>(List.of(key.value()));
        arguments.addAll(said.arguments());
        return new AggregateSyntax(
                said.name(), arguments, said.distinct(), said.filter(), List.of(), said.ignoreNulls());
    }

    /** Gives each aggregate of an expression what was said of the call that it stands for. */
    private static final class Spread extends SqlShuttle {
        private final AggregateSyntax said;
        private final Optional<SqlNode> window;

        Spread(AggregateSyntax said, Optional<SqlNode> window) {
            this.said = said;
            this.window = window;
        }

        @Override
        public SqlNode visit(SqlCall call) {
            if (said.arguments().stream().anyMatch(argument -> argument == call)) {
                return call; // beside the aggregates: what is in it is not of this call
            }
            SqlCall aggregate = call;
            while (aggregate.getKind() == SqlKind.FILTER || aggregate.getKind() == SqlKind.WITHIN_GROUP) {
                aggregate = aggregate.operand(0);
            }
            boolean isAggregate = FunctionNames.of(aggregate)
                    .filter(FunctionNames::isPlainAggregate)
                    .isPresent();
            return isAggregate ? given(call) : super.visit(call);
        }

        /** What was said of an order: behind an own one, or in its place where it only turns it round. */
        private List<SqlNode> ordering(AggregateSyntax own) {
            if (own.ordering().isEmpty() || said.ordering().isEmpty()) {
                return own.ordering().isEmpty() ? said.ordering() : own.ordering();
            }
            if (own.name().equals("array_agg")) {
                return Stream.concat(own.ordering().stream(), said.ordering().stream())
                        .toList();
            }
            SqlNode value = SortSyntax.of(said.ordering().get(0)).value();
            SqlNode ownValue = SortSyntax.of(own.ordering().get(0)).value();
            if (said.ordering().size() > 1 || !value.equalsDeep(ownValue, Litmus.IGNORE)) {
                throw Errors.error(
                                SqlState.FEATURE_NOT_SUPPORTED,
                                "ORDER BY in " + said.name() + " of another value than its argument is not supported",
                                value)
                        .withHint("ORDER BY the argument itself, ascending or descending");
            }
            return said.ordering();
        }

        private SqlNode given(SqlCall call) {
            SqlParserPos position = call.getParserPosition();
            AggregateSyntax own = AggregateSyntax.of(call);
            SqlCall plain = call;
            while (plain.getKind() == SqlKind.FILTER || plain.getKind() == SqlKind.WITHIN_GROUP) {
                plain = plain.operand(0);
            }
            SqlNode made = said.distinct()
                    ? plain.getOperator()
                            .createCall(
                                    SqlSelectKeyword.DISTINCT.symbol(position),
                                    position,
                                    plain.getOperandList().toArray(SqlNode[]::new))
                    : plain;
            List<SqlNode> ordering = ordering(own);
            if (!ordering.isEmpty()) {
                made = SqlStdOperatorTable.WITHIN_GROUP.createCall(position, made, new SqlNodeList(ordering, position));
            }
            Optional<SqlNode> filter = own.filter().isPresent() && said.filter().isPresent()
                    ? Optional.of(SqlStdOperatorTable.AND.createCall(
                            position, own.filter().get(), said.filter().get()))
                    : own.filter().or(said::filter);
            if (filter.isPresent()) {
                made = SqlStdOperatorTable.FILTER.createCall(position, made, filter.get());
            }
            return window.isPresent() ? SqlStdOperatorTable.OVER.createCall(position, made, window.get()) : made;
        }
    }
}
