package dev.millrace.expressions.code;

import dev.millrace.batch.Batch;
import dev.millrace.expressions.kernel.OutputColumn;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Null;
import dev.millrace.type.DataType;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Writes the loops of a filter with projections.
 *
 * <p>The condition's conjuncts become passes over the batch: the cheap ones together in the first, which appends each
 * row's number and moves the end by the condition's outcome, without a branch (K. Ross, "Selection conditions in main
 * memory", TODS 2004, section 4); each dearer one over the rows that are left. A conjunct that can fail is never moved
 * before one that was written before it. Projections that share work are computed in one loop, others in a loop each.
 * What several loops need and is dear is kept from the first that computes it.
 */
final class CalcCompiler {
    /** Projections are not put into one loop beyond this many expression nodes: the JIT gives up on huge methods. */
    private static final int MOST_NODES_IN_A_LOOP = 250;

    private static final int MOST_PASSES = 24;

    /** What costs more may take milliseconds a row. */
    private static final int VERY_DEAR = 2 * Costs.CHEAP;

    private static final int LOOK_ROWS = 63; // a mask: how often a loop over other rows asks whether to stop

    private static final Set<String> TIMED = Set.of("clock_timestamp", "sleep_seconds");
    private static final Expression TIME = new Null(DataType.BOOLEAN); // what all that is timed shares

    private final int methodNodes;
    private final KernelSource kernel;
    private final Schema input;
    private final boolean nulls;
    private final Map<Expression, KeptValue> kept = new HashMap<>();

    CalcCompiler(KernelSource kernel, Schema input, boolean nulls, CodeSize size) {
        this.methodNodes = size.methodNodes();
        this.kernel = kernel;
        this.input = input;
        this.nulls = nulls;
    }

    /** @param selected whether the projections are of selected rows only */
    void compile(Optional<Expression> condition, List<Expression> given, boolean selected) {
        List<List<Expression>> passes =
                divided(condition.map(CalcCompiler::passes).orElse(List.of()));
        List<Expression> projections =
                given.stream().map(new LongExpressions(methodNodes)::divide).toList();
        List<List<Integer>> groups = groups(projections);
        keepShared(passes, groups, projections);
        if (condition.isPresent()) {
            select(passes);
        }
        if (!projections.isEmpty()) {
            project(groups, projections, selected);
        }
        if (!kept.isEmpty()) {
            SourceBuilder methods = kernel.methods();
            methods.line("").open("protected void beginRows(int rows)");
            kept.values().forEach(value -> value.begin(methods));
            methods.close();
        }
    }

    /** Conjuncts in the order of their costs, the cheap ones together. */
    private static List<List<Expression>> passes(Expression condition) {
        List<Expression> ordered = new ArrayList<>();
        for (Expression conjunct : ExpressionWalk.conjuncts(condition)) {
            int at = ordered.size();
            while (!Costs.mayFail(conjunct) && at > 0 && Costs.of(conjunct) < Costs.of(ordered.get(at - 1))) {
                at--;
            }
            ordered.add(at, conjunct);
        }
        List<List<Expression>> passes = new ArrayList<>();
        List<Expression> cheap = new ArrayList<>();
        for (Expression conjunct : ordered) {
            boolean first = passes.isEmpty() && Costs.of(conjunct) <= Costs.CHEAP && !Costs.mayFail(conjunct);
            if (first) {
                cheap.add(conjunct);
            } else {
                if (passes.isEmpty() && !cheap.isEmpty()) {
                    passes.add(cheap);
                }
                passes.add(List.of(conjunct));
            }
        }
        return passes.isEmpty() ? List.of(cheap) : passes;
    }

    /** Passes of which none is too long for a method, nor all for a class. */
    private List<List<Expression>> divided(List<List<Expression>> passes) {
        List<List<Expression>> divided = new ArrayList<>();
        for (int i = 0; i < passes.size(); i++) {
            List<Expression> pass = passes.get(i);
            if (i == MOST_PASSES - 1) {
                pass = passes.subList(i, passes.size()).stream()
                        .flatMap(List::stream)
                        .toList();
                i = passes.size(); // the last
            }
            divided.add(
                    pass.stream().mapToInt(ExpressionWalk::size).sum() <= methodNodes
                            ? pass
                            : List.of(new LongExpressions(methodNodes)
                                    .divide(
                                            pass.size() == 1
                                                    ? pass.get(0)
                                                    : new Call("and", pass, DataType.BOOLEAN, true))));
        }
        return divided;
    }

    /** Projections by the loop they are computed in. */
    private static List<List<Integer>> groups(List<Expression> projections) {
        List<List<Integer>> groups = new ArrayList<>();
        List<Set<Expression>> work = new ArrayList<>();
        List<Integer> sizes = new ArrayList<>();
        for (int i = 0; i < projections.size(); i++) {
            Set<Expression> own = new HashSet<>();
            collectWork(projections.get(i), own);
            boolean isTimed = isTimed(projections.get(i));
            if (isTimed) {
                own.add(TIME);
            }
            int size = LongExpressions.nodes(projections.get(i), MOST_NODES_IN_A_LOOP);
            int group = 0;
            while (group < groups.size()
                    && (java.util.Collections.disjoint(work.get(group), own)
                            || sizes.get(group) + size > MOST_NODES_IN_A_LOOP)
                    && !(isTimed && work.get(group).contains(TIME))) {
                group++;
            }
            if (group == groups.size()) {
                groups.add(new ArrayList<>());
                work.add(new HashSet<>());
                sizes.add(0);
            }
            groups.get(group).add(i);
            work.get(group).addAll(own);
            sizes.set(group, sizes.get(group) + size);
        }
        return groups;
    }

    /** Whether it matters when it is computed, so that others like it come before and behind it in their order, row by row. */
    private static boolean isTimed(Expression expression) {
        return !LongExpressions.isPart(expression)
                && (expression instanceof Call call && TIMED.contains(call.function())
                        || ExpressionWalk.children(expression).stream().anyMatch(CalcCompiler::isTimed));
    }

    private static void collectWork(Expression expression, Set<Expression> into) {
        if (Costs.of(expression) > 2) {
            into.add(expression);
        }
        if (!LongExpressions.isPart(expression)) {
            ExpressionWalk.children(expression).forEach(child -> collectWork(child, into));
        }
    }

    /** Finds what is dear and used by several loops. */
    private void keepShared(List<List<Expression>> passes, List<List<Integer>> groups, List<Expression> projections) {
        Map<Expression, Set<Integer>> loops = new LinkedHashMap<>();
        int loop = 0;
        for (List<Expression> pass : passes) {
            for (Expression conjunct : pass) {
                count(conjunct, loop, loops);
            }
            loop++;
        }
        for (List<Integer> group : groups) {
            for (int projection : group) {
                count(projections.get(projection), loop, loops);
            }
            loop++;
        }
        loops.forEach((expression, users) -> {
            if (users.size() > 1) {
                kept.put(expression, new KeptValue(kernel, expression.type()));
            }
        });
    }

    private static void count(Expression expression, int loop, Map<Expression, Set<Integer>> loops) {
        if (Costs.isWorthKeeping(expression)) {
            boolean known = loops.containsKey(expression);
            loops.computeIfAbsent(expression, key -> new LinkedHashSet<>()).add(loop);
            if (known) {
                return; // its parts were counted where it was first found
            }
        }
        if (!LongExpressions.isPart(expression)) {
            ExpressionWalk.children(expression).forEach(child -> count(child, loop, loops));
        }
    }

    private void select(List<List<Expression>> passes) {
        SourceBuilder methods = kernel.methods();
        String batch = kernel.use(Batch.class);
        methods.line("").open("public int select(" + batch + " in, int[] selected)");
        methods.line("int count = in.rowCount();");
        for (int pass = 0; pass < passes.size(); pass++) {
            methods.line("count = select" + pass + "(in, selected, count);");
        }
        methods.line("return count;").close();
        for (int pass = 0; pass < passes.size(); pass++) {
            Body body = new Body(kernel, input, nulls);
            ExpressionCompiler compiler = new ExpressionCompiler(body, kept);
            List<String> conditions = new ArrayList<>();
            for (Expression conjunct : passes.get(pass)) {
                String isTrue = ExpressionCompiler.isTrue(compiler.compile(conjunct));
                conditions.add(passes.get(pass).size() == 1 ? isTrue : ExpressionCompiler.parenthesised(isTrue));
            }
            methods.line("").open("private int select" + pass + "(" + batch + " in, int[] selected, int count)");
            body.head().forEach(methods::line);
            methods.line("int passed = 0;");
            body.line("selected[passed] = i;");
            body.line("passed += " + String.join(" & ", conditions) + " ? 1 : 0;");
            loop(body, pass > 0, cost(passes.get(pass).stream()));
            methods.line("return passed;").close();
        }
    }

    /** Of the dearest. */
    private static int cost(Stream<Expression> expressions) {
        return expressions.mapToInt(Costs::of).max().orElse(0);
    }

    /**
     * A loop over all rows or those selected, with the row of a failure at hand. If a row may take long enough to be noticed,
     * the loop says where it is and asks whether to stop: before each row where that costs little beside it.
     */
    private void loop(Body body, boolean selected, int cost) {
        boolean dear = cost > Costs.CHEAP;
        SourceBuilder methods = kernel.methods();
        String head = "for (; k < count; k++)";
        if (!body.mayFail()) {
            if (selected) {
                methods.open("for (int k = 0; k < count; k++)").line("int i = selected[k];");
            } else {
                methods.open("for (int i = 0; i < count; i++)");
            }
            methods.append(body.statements()).close();
            return;
        }
        methods.line("int i = 0;");
        if (dear) {
            String type = kernel.use(Interrupt.class);
            methods.line(type + " interrupt = " + type + ".current();");
        }
        if (selected) {
            methods.line("int k = 0;").open("try").open(head).line("i = selected[k];");
        } else {
            methods.open("try").open("for (; i < count; i++)");
        }
        if (dear) {
            methods.line("row = i;");
            String look = "interrupt.check();";
            methods.line(
                    cost > VERY_DEAR ? look : "if ((" + (selected ? "k" : "i") + " & " + LOOK_ROWS + ") == 0) " + look);
        }
        methods.append(body.statements()).close();
        methods.reopen("catch (RuntimeException e)").line("throw failed(e, i);").close();
    }

    private void project(List<List<Integer>> groups, List<Expression> projections, boolean selected) {
        SourceBuilder methods = kernel.methods();
        String parameters = "(" + kernel.use(Batch.class) + " in, int[] selected, int count, "
                + kernel.use(OutputColumn.class) + "[] out)";
        methods.line("").open("public void project" + parameters);
        for (int group = 0; group < groups.size(); group++) {
            methods.line("project" + group + "(in, selected, count, out);");
        }
        methods.close();
        for (int group = 0; group < groups.size(); group++) {
            methods.line("").open("private void project" + group + parameters);
            Body body = new Body(kernel, input, nulls);
            ExpressionCompiler compiler = new ExpressionCompiler(body, kept);
            List<Store> stores = new ArrayList<>();
            for (int projection : groups.get(group)) {
                Expression expression = projections.get(projection);
                Value value = compiler.coerce(compiler.compile(expression), expression.type());
                Store store = new Store(kernel, body, projection, value, selected ? "k" : "i");
                store.inLoop();
                stores.add(store);
            }
            body.head().forEach(methods::line);
            stores.forEach(store -> store.before(methods));
            loop(body, selected, cost(groups.get(group).stream().map(projections::get)));
            stores.forEach(store -> store.after(methods));
            methods.close();
        }
    }
}
