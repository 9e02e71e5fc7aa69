package dev.millrace.planner.order;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * What is joined, and under which conditions, in no order. Columns of all members count on from one to the next. Conditions of
 * one member are filters of it; equalities of columns of several are classes, in which each column equals each other one;
 * the rest are predicates, to be asked as soon as all columns are there.
 */
final class JoinGraph {
    private static final Set<String> COMPARISONS =
            Set.of("eq", "ne", "lt", "le", "gt", "ge", "like", "is_not_null", "and", "or", "not");

    /**
     * One of what is joined: a factor of inner joins, or what reduces them, the right side of a SEMI or ANTI join.
     *
     * @param first the number of its first column
     * @param needs the members whose columns a reducer's condition reads
     */
    record Member(PlanNode node, int first, JoinKind kind, Optional<Expression> condition, long needs) {
        boolean reduces() {
            return kind != JoinKind.INNER;
        }

        boolean has(int column) {
            return column >= first && column < first + node.schema().size();
        }
    }

    /** Columns that are equal in every row that is left. */
    record EqualColumns(List<Integer> columns, long members) {}

    /** A condition on several members that is no class. */
    record Predicate(Expression condition, long members) {}

    private final List<Member> members = new ArrayList<>();
    private final List<Expression> collected = new ArrayList<>();
    private final Map<Integer, List<Expression>> filters = new LinkedHashMap<>();
    private final List<EqualColumns> classes = new ArrayList<>();
    private final List<Predicate> predicates = new ArrayList<>();
    private final List<Expression> constants = new ArrayList<>();
    private boolean inferred;
    private int width;

    // ---- collecting ------------------------------------------------------------------------------------------------

    /** Adds a factor; gives the number of its first column. */
    int addFactor(PlanNode node) {
        return add(node, JoinKind.INNER, Optional.empty());
    }

    /**
     * Adds the right side of a SEMI or ANTI join.
     *
     * @param condition over the columns of the graph, those of the node counted from {@link #width()} on
     */
    void addReducer(PlanNode node, JoinKind kind, Optional<Expression> condition) {
        add(node, kind, condition);
    }

    private int add(PlanNode node, JoinKind kind, Optional<Expression> condition) {
        int first = width;
        width += node.schema().size();
        members.add(new Member(node, first, kind, condition, 0));
        int own = members.size() - 1;
        long needs = condition.map(this::membersOf).orElse(0L) & ~(1L << own);
        members.set(own, new Member(node, first, kind, condition, needs));
        return first;
    }

    /** Adds a condition over the columns of the graph. */
    void addCondition(Expression condition) {
        collected.addAll(Expressions.conjuncts(condition));
    }

    /** How many columns there are so far. */
    int width() {
        return width;
    }

    /** To be called when all is collected. */
    void sortConditions() {
        int[] parent = new int[width];
        for (int column = 0; column < width; column++) {
            parent[column] = column;
        }
        for (Expression conjunct : collected) {
            long read = membersOf(conjunct);
            Optional<int[]> equality = equality(conjunct);
            if (read == 0) {
                constants.add(conjunct);
            } else if (Long.bitCount(read) == 1) {
                addFilter(Long.numberOfTrailingZeros(read), conjunct);
            } else if (equality.isPresent()) {
                parent[root(parent, equality.get()[0])] = root(parent, equality.get()[1]);
            } else {
                predicates.add(new Predicate(conjunct, read));
            }
        }
        Map<Integer, List<Integer>> byRoot = new LinkedHashMap<>();
        for (int column = 0; column < width; column++) {
            byRoot.computeIfAbsent(root(parent, column), root -> new ArrayList<>())
                    .add(column);
        }
        for (List<Integer> columns : byRoot.values()) {
            long of = 0;
            for (int column : columns) {
                of |= 1L << memberOf(column);
            }
            if (Long.bitCount(of) > 1) {
                classes.add(new EqualColumns(columns, of));
            }
        }
        classes.forEach(this::equateWithin);
        classes.forEach(this::inferFilters);
    }

    private static int root(int[] parent, int column) {
        int root = column;
        while (parent[root] != root) {
            root = parent[root];
        }
        return root;
    }

    private void addFilter(int member, Expression filter) {
        List<Expression> ofMember = filters.computeIfAbsent(member, any -> new ArrayList<>());
        if (!ofMember.contains(filter)) {
            ofMember.add(filter);
        }
    }

    /** Two columns of one member that equal a third of another equal each other. */
    private void equateWithin(EqualColumns equal) {
        for (int i = 1; i < equal.columns.size(); i++) {
            int before = equal.columns.get(i - 1); // columns of a member follow each other
            int column = equal.columns.get(i);
            if (memberOf(before) == memberOf(column)) {
                addFilter(memberOf(column), Expressions.test("eq", column(before), column(column)));
            }
        }
    }

    /** What one of equal columns is compared with, all of them are. */
    private void inferFilters(EqualColumns equal) {
        for (int column : equal.columns) {
            for (Expression filter : List.copyOf(filters.getOrDefault(memberOf(column), List.of()))) {
                BitSet read = Expressions.columns(filter);
                if (read.cardinality() != 1 || !read.get(column) || !isComparison(filter)) {
                    continue;
                }
                for (int other : equal.columns) {
                    if (memberOf(other) == memberOf(column)) {
                        continue;
                    }
                    Expression inferredFilter =
                            Expressions.transform(filter, part -> part instanceof Column read1 ? column(other) : part);
                    int before =
                            filters.getOrDefault(memberOf(other), List.of()).size();
                    addFilter(memberOf(other), inferredFilter);
                    inferred |=
                            Objects.requireNonNull(filters.get(memberOf(other))).size() > before;
                }
            }
        }
    }

    /** Whether a filter of one column compares it with constants: it fails for no value, and equal values pass alike. */
    private static boolean isComparison(Expression filter) {
        return filter instanceof Column
                || filter instanceof Literal
                || filter instanceof Call call
                        && COMPARISONS.contains(call.function())
                        && call.arguments().stream().allMatch(JoinGraph::isComparison);
    }

    /** The columns of an equality that makes a class: of one type, whose equal values are the same in all that is asked. */
    private Optional<int[]> equality(Expression conjunct) {
        if (!(conjunct instanceof Call call)
                || !call.function().equals("eq")
                || !(call.arguments().get(0) instanceof Column a)
                || !(call.arguments().get(1) instanceof Column b)
                || !a.type().equals(b.type())) {
            return Optional.empty();
        }
        return switch (a.type().kind()) {
            case SMALLINT, INTEGER, BIGINT, TEXT, VARCHAR, DATE, TIMESTAMP, TIMESTAMPTZ, BOOLEAN, UUID ->
                Optional.of(new int[] {a.index(), b.index()});
            default -> Optional.empty();
        };
    }

    // ---- what it is ------------------------------------------------------------------------------------------------

    List<Member> members() {
        return members;
    }

    Member member(int number) {
        return members.get(number);
    }

    List<EqualColumns> classes() {
        return classes;
    }

    List<Predicate> predicates() {
        return predicates;
    }

    /** Conditions that read no column. */
    List<Expression> constants() {
        return constants;
    }

    /** Whether there are filters that nobody wrote. */
    boolean hasInferred() {
        return inferred;
    }

    /** All conditions as they were collected. */
    List<Expression> collected() {
        return collected;
    }

    /** A member's rows that pass its filters. */
    PlanNode filtered(int number) {
        Member member = members.get(number);
        List<Expression> own = filters.getOrDefault(number, List.of()).stream()
                .map(filter -> Expressions.renumber(filter, column -> column - member.first()))
                .toList();
        return own.isEmpty()
                ? member.node()
                : Nodes.filter(member.node(), Expressions.and(own).orElseThrow());
    }

    int memberOf(int column) {
        for (int member = members.size() - 1; member >= 0; member--) {
            if (members.get(member).first() <= column && members.get(member).has(column)) {
                return member;
            }
        }
        throw new AssertionError("no member has column " + column);
    }

    /** The members whose columns an expression reads. */
    long membersOf(Expression expression) {
        Set<Integer> of = new LinkedHashSet<>();
        Expressions.columns(expression).stream().forEach(column -> of.add(memberOf(column)));
        long bits = 0;
        for (int member : of) {
            bits |= 1L << member;
        }
        return bits;
    }

    /** A reference to a column, by its number in the graph. */
    Column column(int number) {
        Member member = members.get(memberOf(number));
        Column own = Nodes.column(member.node(), number - member.first());
        return new Column(number, own.type(), own.nullable());
    }
}
