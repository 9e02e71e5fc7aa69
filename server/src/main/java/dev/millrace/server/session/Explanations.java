package dev.millrace.server.session;

import dev.millrace.connector.Options;
import dev.millrace.engine.runtime.QueryGroup;
import dev.millrace.engine.runtime.QueryOptions;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.engine.statistic.OperatorStatistics;
import dev.millrace.engine.statistic.QueryStatistics;
import dev.millrace.error.MillraceException;
import dev.millrace.expressions.code.CalcProgram;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.Subplans;
import dev.millrace.planner.PhysicalPlan;
import dev.millrace.planner.explain.LogicalText;
import dev.millrace.server.ddl.Alterations;
import dev.millrace.server.ddl.EdgeWindowStreams;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.lookup.KeyRows;
import dev.millrace.server.lookup.RangeRows;
import dev.millrace.server.planning.EdgeNeeds;
import dev.millrace.server.planning.StandingRules;
import dev.millrace.server.planning.StatementKinds;
import dev.millrace.server.planning.WindowsAtEdge.Finding;
import dev.millrace.server.query.Queries;
import dev.millrace.server.query.Subscriptions;
import dev.millrace.server.result.FixedRows;
import dev.millrace.server.result.StatementResult;
import dev.millrace.sql.catalog.Relation;
import dev.millrace.sql.statement.LiteralRows;
import dev.millrace.sql.statement.Merge;
import dev.millrace.sql.statement.Query;
import dev.millrace.sql.statement.Recursion;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.ExplainForm;
import dev.millrace.sql.statement.WithChanges;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** EXPLAIN, and EXPLAIN ANALYZE of what runs. */
final class Explanations {
    private static final Schema LINES = Schema.of(new Field("QUERY PLAN", DataType.TEXT, false));
    private static final double NANOS_PER_MILLI = 1e6;

    private final Instance database;
    private final Queries queries;
    private final Alterations alterations;
    private final Subscriptions subscriptions;

    Explanations(Instance database, Queries queries, Alterations alterations, Subscriptions subscriptions) {
        this.database = database;
        this.queries = queries;
        this.alterations = alterations;
        this.subscriptions = subscriptions;
    }

    StatementResult explain(Statement.Explain explain) {
        if (explain.statement() instanceof Statement.AlterQuery alter) {
            return lines(alterations.describe(alter));
        }
        List<String> lines = new ArrayList<>();
        if (explain.statement() instanceof WithChanges with) {
            with.parts().forEach(part -> {
                lines.add("WITH " + part.rows().substring(Relation.ROWS_OF.length()) + ":");
                explain(part.change(), explain.forms(), lines);
            });
            lines.add("then, over what was there before:");
            explain(with.main(), explain.forms(), lines);
        } else {
            explain(explain.statement(), explain.forms(), lines);
        }
        return lines(lines);
    }

    /** Runs a SELECT to its end, and says what each operator did, and of streams that keep their rows what was passed by. */
    StatementResult analyze(Statement.ExplainAnalyze explain) {
        if (!(explain.statement() instanceof Statement.Select select)) {
            throw MillraceException.notAvailableYet("EXPLAIN ANALYZE of this statement")
                    .withHint("it runs a SELECT, or tells of a CONTINUOUS QUERY or MATERIALIZED VIEW that runs");
        }
        List<String> lines = new ArrayList<>();
        explain(select, Set.of(), lines);
        lines.add("");
        long startNanos = database.clock().nanoTime();
        QueryStatistics done = queries.runToEnd(select.query());
        for (OperatorStatistics operator : done.operators()) {
            lines.add(operator.name() + (operator.detail().isEmpty() ? "" : " (" + operator.detail() + ")")
                    + ": rows in " + operator.rowsIn() + ", out " + operator.rowsOut() + ", CPU "
                    + millis(operator.cpuNanos()) + " ms");
        }
        lines.add(
                "rows: " + done.rowsOut() + ", time: " + millis(database.clock().nanoTime() - startNanos) + " ms");
        return lines(lines);
    }

    private static double millis(long nanos) {
        return Math.round(nanos / NANOS_PER_MILLI * 1e3) / 1e3;
    }

    private void explain(Statement statement, Set<ExplainForm> forms, List<String> lines) {
        change(statement).ifPresent(lines::add);
        if (statement instanceof Statement.Insert insert && insert.source() instanceof LiteralRows) {
            return;
        }
        Query query = query(statement);
        boolean standing = !(statement instanceof Statement.Select || StatementKinds.changesRows(statement));
        if (forms.contains(ExplainForm.LOGICAL)) {
            LogicalText.of(query).lines().forEach(lines::add);
        }
        query.recursions().forEach(recursion -> explain(recursion, lines));
        PhysicalPlan plan =
                standing ? queries.plan(query, StandingRules.ofQuery(options(statement))) : queries.plan(query);
        boolean physical =
                forms.isEmpty() || forms.contains(ExplainForm.PHYSICAL) || forms.contains(ExplainForm.VERBOSE);
        if (physical && !standing) {
            new KeyRows(database, database.clock())
                    .plan(plan.root())
                    .map(byKey -> byKey.describe(database.catalog()))
                    .or(() -> new RangeRows(database, database.clock())
                            .plan(plan.root())
                            .map(byRange -> byRange.describe(database.catalog())))
                    .ifPresent(lines::add);
        }
        if (physical) {
            database.plans().text(plan, standing).lines().forEach(lines::add);
            plan.joins().ifPresent(joins -> {
                lines.add("expected of this order of joins: " + joins.chosen());
                lines.add("expected of the order written: " + joins.written());
            });
        }
        if (physical && mayShare(statement)) {
            boolean isView = statement instanceof Statement.CreateMaterializedView;
            explainGroup(plan, isView ? QueryOptions.view() : QueryOptions.streaming(), lines);
        }
        if (physical && EdgeNeeds.isWanted(new Options(options(statement)))) {
            explainEdge(statement, plan, lines);
        }
        if (forms.contains(ExplainForm.VERBOSE)) {
            lines.add("emit: " + plan.emit());
            lines.add("append-only: " + plan.appendOnly());
            lines.add("fingerprint: " + plan.fingerprint().hash());
        }
        if (forms.contains(ExplainForm.CODE)) {
            Set<String> kernels = new LinkedHashSet<>();
            collectCode(plan.root(), kernels);
            kernels.forEach(kernel -> kernel.lines().forEach(lines::add));
        }
    }

    private boolean mayShare(Statement statement) {
        boolean isOfKind = statement instanceof Statement.CreateContinuousQuery create
                        && create.options().isEmpty()
                || statement instanceof Statement.CreateMaterializedView view
                        && view.options().isEmpty()
                || statement instanceof Statement.Subscribe subscribe
                        && subscribe.relation().isEmpty()
                        && !subscriptions.haveWait(subscribe);
        return isOfKind && queries.limits().mayShare();
    }

    /** With whom a query would share what runs it. */
    private void explainGroup(PhysicalPlan plan, QueryOptions kind, List<String> lines) {
        QueryOptions how = queries.limits().limited(kind);
        Optional<QueryGroup> group = database.groups()
                .form(plan.root())
                .flatMap(form -> database.groups().group(form, how));
        group.ifPresent(
                others -> lines.add("shared with " + others.members() + " queries that differ in literals alone"));
    }

    /** What devices do for a query, and what the server does. */
    private void explainEdge(Statement statement, PhysicalPlan plan, List<String> lines) {
        Finding finding = new EdgeWindowStreams(database).find(name(statement), plan.root(), options(statement));
        if (finding.windows().isPresent()) {
            lines.addAll(finding.windows().get().describe());
            return;
        }
        EdgeNeeds needs = EdgeNeeds.of(plan.root(), database.catalog()::object);
        lines.addAll(needs.require().describe("the plan above"));
        if (!finding.whyNot().isEmpty()) {
            lines.add("windows at the server: " + finding.whyNot());
        }
    }

    /** What is computed before a query that reads it. */
    private void explain(Recursion recursion, List<String> lines) {
        String rows = recursion.rows().substring(Relation.ROWS_OF.length());
        lines.add("WITH RECURSIVE " + rows.substring(0, rows.lastIndexOf(' ')) + ", first:");
        planText(recursion.base(), lines);
        lines.add("again and again, over the rows of the round before"
                + (recursion.distinct() ? ", new rows alone:" : ":"));
        planText(recursion.step(), lines);
        lines.add("then:");
    }

    private void planText(Query query, List<String> lines) {
        database.plans().text(queries.plan(query), false).lines().forEach(lines::add);
    }

    /** The generated code of filters and projections, each kernel once, those nearest to the relations first. */
    private static void collectCode(PlanNode plan, Set<String> kernels) {
        List<PlanNode> nodes = Subplans.of(plan);
        Collections.reverse(nodes);
        nodes.forEach(node -> addCode(node, kernels));
    }

    private static void addCode(PlanNode node, Set<String> kernels) {
        if (node instanceof PlanNode.Calc calc) {
            List<Expression> computed = calc.projections().stream()
                    .filter(expression -> !(expression instanceof Expression.Column))
                    .toList();
            CalcProgram program = new CalcProgram(calc.input().schema(), calc.condition(), computed);
            if (!program.isEmpty()) {
                kernels.add(program.source(false));
            }
        }
    }

    /** What is done with the rows that the plan below gives. */
    private static Optional<String> change(Statement statement) {
        if (statement instanceof Statement.Insert insert && insert.source() instanceof LiteralRows rows) {
            return Optional.of("Insert " + rows.rows() + " rows of constants into " + insert.relation());
        } else if (statement instanceof Statement.Insert insert) {
            return Optional.of("Insert into " + insert.relation());
        } else if (statement instanceof Statement.Update update) {
            return Optional.of("Update " + update.relation() + ": the old rows, and the new ones beside them");
        } else if (statement instanceof Statement.Delete delete) {
            return Optional.of("Delete from " + delete.relation());
        } else if (statement instanceof Merge merge) {
            String actions = merge.actions().stream()
                    .map(action -> action.kind().name().toLowerCase(Locale.ROOT))
                    .collect(Collectors.joining(", "));
            return Optional.of(
                    "Merge into " + merge.relation() + " (" + actions + "): the old rows, the new ones, the action");
        }
        return Optional.empty();
    }

    private static Query query(Statement statement) {
        if (statement instanceof Statement.Select select) {
            return select.query();
        } else if (statement instanceof Statement.CreateContinuousQuery create) {
            return create.query();
        } else if (statement instanceof Statement.CreateMaterializedView create) {
            return create.query();
        } else if (statement instanceof Statement.CreateStreamAs create) {
            return create.query();
        } else if (statement instanceof Statement.CreateSink create) {
            return create.query();
        } else if (statement instanceof Statement.Subscribe subscribe) {
            return subscribe.query();
        } else if (statement instanceof Statement.Insert insert && insert.source() instanceof Query query) {
            return query; // EXPLAIN has no other bound
        } else if (statement instanceof Statement.Update update) {
            return update.changes();
        } else if (statement instanceof Statement.Delete delete) {
            return delete.rows();
        } else if (statement instanceof Merge merge) {
            return merge.changes();
        }
        throw MillraceException.notAvailableYet("EXPLAIN of this statement")
                .withHint("it explains queries, changes of rows, and CREATE or ALTER of what holds a query");
    }

    private static String name(Statement statement) {
        if (statement instanceof Statement.CreateContinuousQuery create) {
            return create.name();
        }
        return statement instanceof Statement.CreateMaterializedView create ? create.name() : "";
    }

    private static Map<String, String> options(Statement statement) {
        if (statement instanceof Statement.CreateContinuousQuery create) {
            return create.options();
        } else if (statement instanceof Statement.CreateMaterializedView create) {
            return create.options();
        } else if (statement instanceof Statement.CreateStreamAs create) {
            return create.options();
        }
        return statement instanceof Statement.CreateSink create ? create.options() : Map.of();
    }

    StatementResult explainRunning(Statement.ExplainRunning explain) {
        StandingQuery query = database.standing(database.catalog()
                        .require(explain.kind(), explain.name())
                        .name())
                .orElseThrow();
        Schema schema = Schema.of(
                new Field("operator", DataType.TEXT, false),
                new Field("instances", DataType.BIGINT, false),
                new Field("rows_in", DataType.BIGINT, false),
                new Field("rows_out", DataType.BIGINT, false),
                new Field("cpu_ms", DataType.DOUBLE, false),
                new Field("state_bytes", DataType.BIGINT, false),
                new Field("forgotten", DataType.BIGINT, false),
                new Field("queued_bytes", DataType.BIGINT, false),
                new Field("late_rows", DataType.BIGINT, false));
        return FixedRows.of(schema, database.engine().allocator(), rows -> {
            Optional<QueryGroup> group = query.group();
            group.ifPresent(shared -> rows.row(
                    "shared by " + shared.members() + " queries that differ in literals alone",
                    1,
                    query.statistics().rowsIn(),
                    query.statistics().rowsOut(),
                    millis(query.statistics().cpuNanos()),
                    0,
                    0,
                    0,
                    0));
            QueryStatistics statistics = group.map(QueryGroup::statistics).orElseGet(query::statistics);
            for (OperatorStatistics operator : statistics.operators()) {
                String name = operator.detail().isEmpty()
                        ? operator.name()
                        : operator.name() + " (" + operator.detail() + ")";
                rows.row(
                        name,
                        operator.instances(),
                        operator.rowsIn(),
                        operator.rowsOut(),
                        millis(operator.cpuNanos()),
                        operator.stateBytes(),
                        operator.forgotten(),
                        operator.queuedBytes(),
                        operator.lateRows());
            }
        });
    }

    private StatementResult lines(List<String> lines) {
        return FixedRows.of(LINES, database.engine().allocator(), rows -> lines.forEach(rows::row));
    }
}
