package dev.millrace.sql.bind.expression;

import dev.millrace.error.MillraceException;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.sql.bind.scope.Clause;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.scope.Scope;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlWindow;

/**
 * Which query an aggregate belongs to: the innermost one of which its arguments, FILTER or ORDER BY read a column, or that
 * which it stands in where they read none (SQL:2016, 7.12).
 *
 * <pre>
 * SELECT (SELECT sum(o.v) FROM i LIMIT 1) FROM o      is one row: the sum is of the outer query's rows
 * SELECT (SELECT sum(o.v + i.v) FROM i) FROM o        is a row for each of o
 * </pre>
 */
public final class OuterAggregates {
    private OuterAggregates() {}

    /** An outer query turned out to be grouped, by an aggregate in a sub-query: it has to be bound again as such. */
    public static final class Found extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final transient Scope owner;

        Found(Scope owner) {
            super("an aggregate of an outer query", null, false, false);
            this.owner = owner;
        }

        public boolean isOf(Scope scope) {
            return owner == scope;
        }
    }

    /** Binds an aggregate as one of the query that a binder is of. */
    interface Binding {
        RexNode bind(FunctionBinder functions);
    }

    /** The scope of the outer query that the parts of an aggregate make it belong to; empty for the query it stands in. */
    static Optional<Scope> owner(Stream<SqlNode> parts, Scope scope) {
        List<SqlIdentifier> names = new ArrayList<>();
        List<SqlNode> queries = new ArrayList<>();
        parts.forEach(part -> collect(part, names, queries));
        if (names.isEmpty() && queries.isEmpty()) {
            return Optional.empty();
        }
        try {
            Set<Scope> read = readBy(queries, scope);
            for (Optional<Scope> level = Optional.of(scope);
                    level.isPresent();
                    level = level.get().outer()) {
                Scope here = level.get();
                if (read.contains(here) || names.stream().anyMatch(here::names)) {
                    boolean outer = here != scope && here.clause().isPresent();
                    return outer ? level : Optional.empty();
                }
            }
        } catch (MillraceException e) {
            return Optional.empty(); // ambiguous: binding says so
        }
        return Optional.empty();
    }

    /** The scopes, from this one outward, of which queries inside an aggregate's arguments read columns. */
    private static Set<Scope> readBy(List<SqlNode> queries, Scope scope) {
        Set<Scope> read = Collections.newSetFromMap(new IdentityHashMap<>());
        for (SqlNode query : queries) {
            if (!scope.context().tryOut(() -> scope.context().bindWithin(query, scope.probe(read::add)))) {
                read.add(scope); // one inside another that is being looked at, or one that binding will refuse
            }
        }
        return read;
    }

    private static void collect(SqlNode node, List<SqlIdentifier> names, List<SqlNode> queries) {
        if (node instanceof SqlIdentifier name) {
            if (!name.isStar()) {
                names.add(name);
            } else if (name.names.size() > 1) {
                names.add(name.getComponent(name.names.size() - 2));
            }
        } else if (node instanceof SqlNodeList list) {
            list.forEach(item -> collect(item, names, queries));
        } else if (node != null && node.isA(SqlKind.QUERY)) {
            queries.add(node); // what it reads is for its own scope to say
        } else if (node instanceof SqlCall call) {
            call.getOperandList().forEach(operand -> collect(operand, names, queries));
        }
    }

    /** The aggregate's value, bound in the scope it belongs to, for a query inside that. */
    public static RexNode bind(QueryContext context, Scope owner, Binding binding) {
        if (!owner.isGrouped() && owner.clause().flatMap(Clause::aggregates).isPresent()) {
            throw new Found(owner);
        }
        Clause clause = owner.clause().orElseThrow();
        RexNode own = binding.bind(new FunctionBinder(context, new ExpressionBinder(context, owner, clause), clause));
        return own.accept(new RexShuttle() {
            @Override
            public RexNode visitInputRef(RexInputRef reference) {
                return owner.ofCall(reference);
            }
        });
    }

    /** Whether a syntax tree calls an aggregate of this scope's query: outside sub-queries and OVER. */
    public static boolean anyOwn(SqlNode node, QueryContext context, Scope scope) {
        Interrupt.checkCurrent();
        if (!(node instanceof SqlCall call) || node.isA(SqlKind.QUERY)) {
            return node instanceof SqlNodeList list && list.stream().anyMatch(item -> anyOwn(item, context, scope));
        }
        if (call.getKind() == SqlKind.OVER) {
            SqlCall inner = call.operand(0);
            while (isAround(inner)) {
                if (inner.operandCount() > 1 && anyOwn(inner.operand(1), context, scope)) {
                    return true;
                }
                inner = inner.operand(0);
            }
            return inner.getOperandList().stream()
                            .anyMatch(operand -> operand != null && anyOwn(operand, context, scope))
                    || anyOwnInWindow(call.operand(1), context, scope);
        }
        SqlCall called = call;
        while (isAround(called) && called.operand(0) instanceof SqlCall inner) {
            called = inner;
        }
        boolean aggregate = call.getKind() == SqlKind.WITHIN_GROUP
                || FunctionNames.of(called)
                        .filter(name -> FunctionNames.isAggregate(name, context))
                        .isPresent();
        if (aggregate) {
            return owner(AggregateSyntax.of(call).parts(), scope).isEmpty();
        }
        return call.getOperandList().stream().anyMatch(operand -> operand != null && anyOwn(operand, context, scope));
    }

    private static boolean isAround(SqlCall call) {
        return call.getKind() == SqlKind.FILTER
                || call.getKind() == SqlKind.WITHIN_GROUP
                || call.getKind() == SqlKind.IGNORE_NULLS
                || call.getKind() == SqlKind.RESPECT_NULLS;
    }

    private static boolean anyOwnInWindow(SqlNode window, QueryContext context, Scope scope) {
        return window instanceof SqlWindow specification
                && (anyOwn(specification.getPartitionList(), context, scope)
                        || anyOwn(specification.getOrderList(), context, scope));
    }
}
