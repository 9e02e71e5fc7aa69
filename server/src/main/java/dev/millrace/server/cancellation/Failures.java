package dev.millrace.server.cancellation;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.util.function.Supplier;
import org.apache.arrow.memory.OutOfMemoryException;

/** Makes whatever goes wrong one error that a user can be told; what is a defect of ours is logged with its trace. */
public final class Failures {
    private Failures() {}

    public static void run(Runnable action) {
        translate(() -> {
            action.run();
            return true;
        });
    }

    public static <T> T translate(Supplier<T> action) {
        try {
            return action.get();
        } catch (MillraceException e) {
            throw e;
        } catch (OutOfMemoryException e) {
            throw MillraceException.resources(SqlState.OUT_OF_MEMORY, "out of memory: memory_limit is used up");
        } catch (OutOfMemoryError e) {
            throw MillraceException.resources(
                            SqlState.OUT_OF_MEMORY, "out of memory on the Java heap: " + e.getMessage())
                    .withHint("ask for less at a time, or start with a larger heap (-Xmx)");
        } catch (StackOverflowError e) {
            throw MillraceException.resources(SqlState.STATEMENT_TOO_COMPLEX, "the statement is nested too deeply");
        } catch (RuntimeException | AssertionError e) {
            System.getLogger(Failures.class.getPackageName()).log(System.Logger.Level.ERROR, "internal error", e);
            throw MillraceException.internal("internal error: " + e, e);
        }
    }
}
