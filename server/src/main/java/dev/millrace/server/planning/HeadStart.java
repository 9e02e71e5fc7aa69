package dev.millrace.server.planning;

import dev.millrace.engine.statistic.ColumnSketch;
import dev.millrace.expressions.constant.ConstantFolder;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.planner.estimate.RelationStatistics;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.sql.Frontend;
import dev.millrace.sql.ParsedStatement;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.sql.statement.Statement;
import dev.millrace.time.Clock;
import dev.millrace.type.DataType;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Loads and initialises in two other threads what a first statement needs, which is most of what a first answer takes in a cold
 * JVM. The engine is opened and the client connects meanwhile.
 */
public final class HeadStart {
    private static final AtomicBoolean BEGUN = new AtomicBoolean();

    private HeadStart() {}

    /** Begins, once in a process; returns at once. */
    public static void begin() {
        if (BEGUN.compareAndSet(false, true)) {
            start("millrace-head-start-1", HeadStart::plan);
            start("millrace-head-start-2", HeadStart::compile);
        }
    }

    private static void start(String name, Runnable work) {
        Thread thread = new Thread(
                () -> {
                    try {
                        work.run();
                    } catch (RuntimeException e) {
                        // only a head start: who needs what failed to load meets the error itself
                    }
                },
                name);
        thread.setDaemon(true);
        thread.start();
    }

    /** The compiler of expressions, and what the planner makes of columns. */
    private static void compile() {
        Literal one = new Literal(1L, DataType.INTEGER);
        ConstantFolder.evaluate(new Expression.Call("add", List.of(one, one), DataType.INTEGER, false));
        new ColumnSketch(DataType.INTEGER);
    }

    /** The front end and the planner. */
    private static void plan() {
        Frontend frontend = new Frontend();
        DatabaseCatalog catalog = new DatabaseCatalog();
        Plans plans = new Plans(
                frontend,
                catalog,
                1,
                name -> Optional.empty(),
                name -> RelationStatistics.UNKNOWN,
                name -> RelationStatistics.UNKNOWN,
                Clock.system());
        for (ParsedStatement parsed : frontend.parse("SELECT 1 AS a WHERE 2 > 1")) {
            if (plans.analyze(parsed, catalog, Parameters.none()) instanceof Statement.Select select) {
                plans.pull(select.query());
            }
        }
    }
}
