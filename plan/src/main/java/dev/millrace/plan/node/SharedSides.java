package dev.millrace.plan.node;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.PlanNode.Distribution;
import dev.millrace.plan.node.PlanNode.Exchange;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.plan.node.PlanNode.Scan;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Which sides of joins a standing query reads where a table or a view keeps them, by an index that all queries have that join it by
 * the key, instead of keeping the rows once more. A side is that
 *
 * <ul>
 *   <li>if it is all rows of the relation, at most exchanged by the join's keys, and nothing else in the plan reads that scan;
 *   <li>if the join keeps no notes with its rows: neither side of INNER, the right one of LEFT, SEMI and ANTI, the left one of RIGHT;
 *   <li>if its keys have types of which values are equal just where their bytes are, and the other side's are the same;
 *   <li>if time has nothing to do with the join, and its further condition compares no sizes: by those, joins find rows of frequent
 *       keys faster than by the key alone; nor is it a SEMI or ANTI join by keys alone, which keeps no rows of the right side.
 * </ul>
 */
public final class SharedSides {
    /** No side of any join: of a query that ends. */
    public static final SharedSides NONE = new SharedSides(relation -> false);

    private final Predicate<String> keepsRows;
    private final Map<Join, List<Boolean>> sides = new HashMap<>(); // left, right; of joins that have one

    private SharedSides(Predicate<String> keepsRows) {
        this.keepsRows = keepsRows;
    }

    /**
     * Those of a plan.
     *
     * @param keepsRows whether a relation of this name is a table, or a view that keeps its answer
     */
    public static SharedSides of(PlanNode plan, Predicate<String> keepsRows) {
        SharedSides shared = new SharedSides(keepsRows);
        shared.find(plan);
        return shared;
    }

    private void find(PlanNode plan) {
        Set<PlanNode> nodes = new HashSet<>(Subplans.of(plan));
        for (PlanNode node : nodes) {
            if (node instanceof Join join && suits(join)) {
                List<Boolean> both = List.of(canShare(join, 0), canShare(join, 1));
                if (both.contains(true)) {
                    sides.put(join, both);
                }
            }
        }
        Map<PlanNode, List<PlanNode>> readers = new HashMap<>();
        for (PlanNode node : nodes) {
            node.inputs()
                    .forEach(input -> readers.computeIfAbsent(input, any -> new ArrayList<>())
                            .add(node));
        }
        boolean changed = true;
        while (changed) {
            changed = false;
            for (Join join : List.copyOf(sides.keySet())) {
                List<Boolean> both = List.of(
                        isShared(join, 0) && isReadByJoins(join, 0, plan, readers),
                        isShared(join, 1) && isReadByJoins(join, 1, plan, readers));
                changed |= !both.equals(sides.get(join));
                sides.put(join, both);
            }
        }
        sides.values().removeIf(both -> !both.contains(true));
    }

    private static boolean suits(Join join) {
        boolean byKeysAlone = join.residual().isEmpty();
        return join.time().isEmpty()
                && !join.leftKeys().isEmpty()
                && areDifferent(join.leftKeys())
                && areDifferent(join.rightKeys())
                && (byKeysAlone
                        ? join.kind() != JoinKind.SEMI && join.kind() != JoinKind.ANTI
                        : !comparesSizes(join.residual().get()));
    }

    /** A row that is looked up by has one place for each column of the key. */
    private static boolean areDifferent(List<Integer> keys) {
        return Set.copyOf(keys).size() == keys.size();
    }

    private static boolean comparesSizes(Expression condition) {
        return condition instanceof Expression.Call call
                && switch (call.function()) {
                    case "lt", "le", "gt", "ge" -> true;
                    case "and" -> call.arguments().stream().anyMatch(SharedSides::comparesSizes);
                    default -> false;
                };
    }

    private boolean canShare(Join join, int side) {
        boolean hasNotes = switch (join.kind()) {
            case INNER -> false;
            case LEFT, SEMI, ANTI -> side == 0;
            case RIGHT -> side == 1;
            case FULL -> true;
        };
        Optional<Scan> scan = scanOf(input(join, side));
        return !hasNotes && scan.isPresent() && keepsRows.test(scan.get().relation()) && areAlike(join);
    }

    private static boolean areAlike(Join join) {
        for (int key = 0; key < join.leftKeys().size(); key++) {
            DataType left = join.left().schema().type(join.leftKeys().get(key));
            DataType right = join.right().schema().type(join.rightKeys().get(key));
            boolean sameText = isText(left) && isText(right);
            if (!isPlain(left) || !sameText && (left.kind() != right.kind() || left.scale() != right.scale())) {
                return false;
            }
        }
        return true;
    }

    private static boolean isText(DataType type) {
        return type.kind() == DataType.Kind.TEXT || type.kind() == DataType.Kind.VARCHAR;
    }

    private static boolean isPlain(DataType type) {
        return switch (type.kind()) {
            case BOOLEAN, SMALLINT, INTEGER, BIGINT, DATE, TIME, TIMESTAMP, TIMESTAMPTZ -> true;
            case NUMERIC, BIGNUM, UUID, TEXT, VARCHAR, BYTEA -> true;
            case REAL, DOUBLE, INTERVAL, CHAR, JSONB, ARRAY, ROW, NULL -> false;
        };
    }

    private static PlanNode input(Join join, int side) {
        return side == 0 ? join.left() : join.right();
    }

    private static Optional<Scan> scanOf(PlanNode side) {
        PlanNode below =
                side instanceof Exchange exchange && !(exchange.distribution() instanceof Distribution.Broadcast)
                        ? exchange.input()
                        : side;
        return below instanceof Scan scan && scan.predicates().isEmpty() ? Optional.of(scan) : Optional.empty();
    }

    /** Whether all that reads the scan of a side is sides that are shared: who else does begins with its rows. */
    private boolean isReadByJoins(Join join, int side, PlanNode root, Map<PlanNode, List<PlanNode>> readers) {
        List<PlanNode> ways = new ArrayList<>();
        PlanNode scan = scanOf(input(join, side)).orElseThrow();
        ways.add(scan);
        for (PlanNode reader : readers.getOrDefault(scan, List.of())) {
            if (reader instanceof Exchange) {
                ways.add(reader);
            } else if (!(reader instanceof Join)) {
                return false;
            }
        }
        for (PlanNode way : ways) {
            if (way.equals(root)) {
                return false;
            }
            for (PlanNode reader : readers.getOrDefault(way, List.of())) {
                boolean isWay = reader instanceof Exchange && way.equals(scan);
                if (!isWay && !(reader instanceof Join other && isSharedWherever(other, way))) {
                    return false;
                }
            }
        }
        return true;
    }

    private boolean isSharedWherever(Join join, PlanNode input) {
        return (!join.left().equals(input) || isShared(join, 0))
                && (!join.right().equals(input) || isShared(join, 1));
    }

    /** Whether a side of a join (0 left, 1 right) is read where it is kept. */
    public boolean isShared(Join join, int side) {
        return sides.containsKey(join) && sides.get(join).get(side);
    }

    /** What a side reads that is shared. */
    public Scan scan(Join join, int side) {
        return scanOf(input(join, side)).orElseThrow();
    }

    /** By which of a side's columns it is exchanged; all keys where it is not. */
    public List<Integer> spread(Join join, int side) {
        return input(join, side) instanceof Exchange exchange
                        && exchange.distribution() instanceof Distribution.Hash hash
                ? hash.columns()
                : side == 0 ? join.leftKeys() : join.rightKeys();
    }

    /** Whether all that reads a scan does so where its rows are kept, and is told of changes only. */
    public boolean isShared(Scan scan) {
        return sides.keySet().stream()
                .anyMatch(join -> isShared(join, 0) && scan(join, 0).equals(scan)
                        || isShared(join, 1) && scan(join, 1).equals(scan));
    }
}
