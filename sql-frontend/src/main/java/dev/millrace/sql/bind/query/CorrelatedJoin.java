package dev.millrace.sql.bind.query;

import dev.millrace.error.SqlState;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.bind.query.FromBinder.On;
import dev.millrace.sql.bind.relation.Correlations;
import dev.millrace.sql.bind.relation.RelNodes;
import dev.millrace.sql.bind.scope.From;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.scope.Scope;
import dev.millrace.sql.bind.subquery.BelowCrossJoins;
import dev.millrace.sql.bind.type.Coercions;
import dev.millrace.sql.bind.type.Errors;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.IntUnaryOperator;
import java.util.stream.Collectors;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.logical.LogicalCorrelate;
import org.apache.calcite.rel.logical.LogicalProject;
import org.apache.calcite.rel.logical.LogicalUnion;
import org.apache.calcite.rel.logical.LogicalValues;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexOver;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.rex.RexSubQuery;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.JoinConditionType;
import org.apache.calcite.sql.SqlJoin;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.util.ImmutableBitSet;

/**
 * Joins whose right side is made anew for each left row: LATERAL, and outer joins with a sub-query in ON.
 *
 * <pre>
 * a LEFT JOIN b ON a.k = b.k AND EXISTS (..)    is    a LEFT JOIN LATERAL (SELECT * FROM b WHERE $cor.k = k AND EXISTS (..))
 * </pre>
 */
final class CorrelatedJoin {
    private final From left;
    private final From right;
    private final Scope leftScope;
    private final QueryContext context;

    CorrelatedJoin(From left, From right, Scope leftScope, QueryContext context) {
        this.left = left;
        this.right = right;
        this.leftScope = leftScope;
        this.context = context;
    }

    /** LATERAL, with any ON. */
    From bind(SqlJoin join, JoinRelType type, BiFunction<SqlNode, From, On> onCondition) {
        if (type != JoinRelType.INNER && type != JoinRelType.LEFT) {
            throw Errors.error(
                            SqlState.FEATURE_NOT_SUPPORTED,
                            "a RIGHT or FULL JOIN cannot have a LATERAL query that refers to its left side: it would have"
                                    + " rows for which there is none",
                            join)
                    .withHint("LEFT JOIN LATERAL");
        }
        context.foundSubQuery();
        RelNode rows = right.rel();
        if (join.getConditionType() == JoinConditionType.USING || join.isNatural()) {
            throw Errors.notAvailableYet("USING with LATERAL", join).withHint("name the columns: ON a.k = b.k");
        }
        if (join.getConditionType() == JoinConditionType.ON) {
            From both = FromBinder.beside(
                    left, right, RelNodes.join(left.rel(), rows, Rex.builder().makeLiteral(true), JoinRelType.INNER));
            On on = onCondition.apply(join.getCondition(), both);
            if (type == JoinRelType.INNER && rows instanceof LogicalProject project && isOfOuterRowAlone(project)) {
                From columns = computed(project);
                return new From(RelNodes.filter(columns.rel(), on.condition(), on.correlation()), columns.columns());
            }
            if (type == JoinRelType.INNER
                    && BelowCrossJoins.isOfOuterRowsAlone(rows)
                    && RexUtil.SubQueryFinder.find(on.condition()) == null) {
                // below, the rows would be made of all that ON reads of the left ones, too
                From made = correlate(rows, type);
                return new From(RelNodes.filter(made.rel(), on.condition(), Optional.empty()), made.columns());
            }
            if (!on.condition().isAlwaysTrue()) {
                rows = filteredRight(on);
            }
        }
        if (rows == right.rel() && rows instanceof LogicalProject project && isOfOuterRowAlone(project)) {
            return computed(project);
        }
        return correlate(rows, type);
    }

    /** Whether a query is a SELECT without FROM, of nothing but expressions. */
    private static boolean isOfOuterRowAlone(LogicalProject project) {
        return project.getInput() instanceof LogicalValues values
                && values.getTuples().size() == 1
                && project.getProjects().stream()
                        .noneMatch(each -> RexUtil.SubQueryFinder.find(each) != null
                                || RexOver.containsOver(each)
                                || RexUtil.containsInputRef(each));
    }

    /** Columns that are computed for each left row: no join is needed. */
    private From computed(LogicalProject project) {
        List<RexNode> columns = new ArrayList<>(RelNodes.references(left.rel()));
        List<String> names = new ArrayList<>(left.rel().getRowType().getFieldNames());
        names.addAll(project.getRowType().getFieldNames());
        for (RexNode each : project.getProjects()) {
            columns.add(
                    leftScope.correlation().isEmpty()
                            ? each
                            : Correlations.replace(
                                    each,
                                    leftScope.correlation().get(),
                                    column -> RelNodes.references(left.rel()).get(column)));
        }
        return FromBinder.beside(left, right, RelNodes.project(left.rel(), columns, names));
    }

    /** A join with sub-queries in ON: above an inner one, else on the side that may be missing. */
    From joinWithSubQuery(SqlJoin join, JoinRelType type, From both, On on) {
        context.foundSubQuery();
        return switch (type) {
            case INNER -> FromBinder.beside(left, right, RelNodes.filter(both.rel(), on.condition(), on.correlation()));
            case LEFT -> left(on);
            case RIGHT -> {
                RelNode turned = turned().left(turned(on, both)).rel();
                yield FromBinder.beside(left, right, turnedBack(turned));
            }
            case FULL -> full(on, both);
            default -> throw new IllegalStateException(type + " has columns of one side");
        };
    }

    /** SEMI and ANTI: the left rows for which there is a right row, or none. */
    From existence(JoinRelType type, On on) {
        context.foundSubQuery();
        RexNode exists = RexSubQuery.exists(filteredRight(on));
        RexNode condition = type == JoinRelType.SEMI ? exists : Rex.not(exists);
        return new From(RelNodes.filter(left.rel(), condition, leftScope.correlation()), left.columns());
    }

    /** The rows of the LEFT join and, behind NULLs, the right rows for which there is no left one. */
    private From full(On on, From both) {
        CorrelatedJoin turned = turned();
        RexNode none = Rex.not(RexSubQuery.exists(turned.filteredRight(turned(on, both))));
        RelNode lonely = RelNodes.filter(right.rel(), none, turned.leftScope.correlation());
        List<RexNode> behindNulls = new ArrayList<>();
        for (RexNode column : RelNodes.references(left.rel())) {
            behindNulls.add(Rex.nullOf(Coercions.type(column)));
        }
        behindNulls.addAll(RelNodes.references(lonely));
        RelNode outer = left(on).rel();
        RelNode rest =
                RelNodes.project(lonely, behindNulls, both.rel().getRowType().getFieldNames());
        return FromBinder.beside(left, right, LogicalUnion.create(List.of(outer, rest), true));
    }

    /** The join with its sides changed. */
    private CorrelatedJoin turned() {
        Scope ofRight =
                new Scope(leftScope.outer(), right.columns(), right.rel().getRowType(), context);
        return new CorrelatedJoin(right, left, ofRight, context);
    }

    private On turned(On on, From both) {
        int width = left.rel().getRowType().getFieldCount();
        int rightWidth = right.rel().getRowType().getFieldCount();
        IntUnaryOperator place = column -> column < width ? column + rightWidth : column - width;
        RexNode condition = on.condition().accept(new RexShuttle() {
            @Override
            public RexNode visitInputRef(RexInputRef reference) {
                return new RexInputRef(place.applyAsInt(reference.getIndex()), reference.getType());
            }
        });
        if (on.correlation().isEmpty()) {
            return new On(condition, Optional.empty());
        }
        CorrelationId id = context.cluster().createCorrel();
        RelNode row = RelNodes.join(right.rel(), left.rel(), Rex.builder().makeLiteral(true), JoinRelType.INNER);
        condition = Correlations.replace(
                condition,
                on.correlation().get(),
                column -> Rex.builder()
                        .makeFieldAccess(Rex.builder().makeCorrel(row.getRowType(), id), place.applyAsInt(column)));
        return new On(condition, Optional.of(id));
    }

    private RelNode turnedBack(RelNode turned) {
        int rightWidth = right.rel().getRowType().getFieldCount();
        List<RexNode> columns = RelNodes.references(turned);
        List<String> names = turned.getRowType().getFieldNames();
        List<RexNode> ordered = new ArrayList<>(columns.subList(rightWidth, columns.size()));
        ordered.addAll(columns.subList(0, rightWidth));
        List<String> orderedNames = new ArrayList<>(names.subList(rightWidth, names.size()));
        orderedNames.addAll(names.subList(0, rightWidth));
        return RelNodes.project(turned, ordered, orderedNames);
    }

    /** Where the sub-queries do not concern the left row, the right rows are those that pass them. */
    private From left(On on) {
        Map<Boolean, List<RexNode>> parts = RelOptUtil.conjunctions(on.condition()).stream()
                .collect(Collectors.partitioningBy(part -> RexUtil.SubQueryFinder.find(part) != null));
        RelNode rows =
                filteredRight(new On(Rex.combine("and", Objects.requireNonNull(parts.get(true))), on.correlation()));
        List<RexNode> plain = Objects.requireNonNull(parts.get(false));
        if (leftScope.correlation().isPresent() || plain.isEmpty()) {
            return correlate(filteredRight(on), JoinRelType.LEFT);
        }
        RexNode condition = Rex.combine("and", plain);
        return FromBinder.beside(left, right, RelNodes.join(left.rel(), rows, condition, JoinRelType.LEFT));
    }

    private From correlate(RelNode rows, JoinRelType type) {
        if (leftScope.correlation().isEmpty()) {
            RexNode always = Rex.builder().makeLiteral(true);
            return FromBinder.beside(left, right, RelNodes.join(left.rel(), rows, always, type));
        }
        RelNode rel = LogicalCorrelate.create(
                left.rel(),
                rows,
                List.of(),
                leftScope.correlation().orElseThrow(),
                ImmutableBitSet.of(leftScope.correlatedColumns()),
                type);
        return FromBinder.beside(left, right, rel);
    }

    /** The right rows that fulfil a condition over both: left columns by the left row's variable. */
    private RelNode filteredRight(On on) {
        int width = left.rel().getRowType().getFieldCount();
        RexNode condition = on.condition().accept(new RexShuttle() {
            @Override
            public RexNode visitInputRef(RexInputRef reference) {
                return reference.getIndex() < width
                        ? leftScope.correlated(reference.getIndex())
                        : new RexInputRef(reference.getIndex() - width, reference.getType());
            }
        });
        if (on.correlation().isEmpty()) {
            return RelNodes.filter(right.rel(), condition, Optional.empty());
        }
        CorrelationId ofRight = context.cluster().createCorrel();
        List<Integer> used = new ArrayList<>();
        condition = Correlations.replace(condition, on.correlation().get(), column -> {
            if (column < width) {
                return leftScope.correlated(column);
            }
            used.add(column);
            RexNode row = Rex.builder().makeCorrel(right.rel().getRowType(), ofRight);
            return Rex.builder().makeFieldAccess(row, column - width);
        });
        return RelNodes.filter(right.rel(), condition, used.isEmpty() ? Optional.empty() : Optional.of(ofRight));
    }
}
