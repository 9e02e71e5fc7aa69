package dev.millrace.expressions.kernel;

import dev.millrace.interrupt.Interrupt;
import java.io.StringReader;
import java.util.List;
import org.codehaus.commons.compiler.Location;
import org.codehaus.janino.Java;
import org.codehaus.janino.Visitor.BlockStatementVisitor;
import org.codehaus.janino.util.AbstractTraverser;

/**
 * Lets Janino be stopped, which knows nothing of interrupts: while it reads a source, and, by statements that make no code,
 * whenever it comes by one of those while it compiles.
 */
public final class Looks {
    private static final int PERIOD = 8; // statements

    private Looks() {}

    /** A source that is read in portions. */
    static final class Source extends StringReader {
        private static final int PORTION = 1024; // characters

        private final Interrupt interrupt = Interrupt.current();

        Source(String text) {
            super(text);
        }

        @Override
        public int read(char[] into, int offset, int length) throws java.io.IOException {
            interrupt.check();
            return super.read(into, offset, Math.min(length, PORTION));
        }
    }

    /** Puts looks between the statements of long methods and blocks. */
    static void addTo(Java.AbstractCompilationUnit unit) {
        new AbstractTraverser<RuntimeException>() {
            @Override
            public void traverseFunctionDeclarator(Java.FunctionDeclarator function) {
                super.traverseFunctionDeclarator(function);
                if (function.statements != null) {
                    addTo(function.statements, function);
                }
            }

            @Override
            public void traverseBlock(Java.Block block) {
                super.traverseBlock(block);
                addTo(block.statements, block);
            }
        }.visitAbstractCompilationUnit(unit);
    }

    @SuppressWarnings(
            "unchecked") // Janino's lists are of all that may stand in a block, but those of functions do not say so
    private static void addTo(List<? extends Java.BlockStatement> statements, Java.Scope scope) {
        List<Java.BlockStatement> all = (List<Java.BlockStatement>) statements;
        for (int i = all.size() - all.size() % PERIOD; i > 0; i -= PERIOD) {
            if (i < all.size()) {
                Look look = new Look(all.get(i).getLocation());
                look.setEnclosingScope(scope);
                all.add(i, look);
            }
        }
    }

    /** A statement that does nothing when it runs, and looks whenever it is compiled. */
    private static final class Look extends Java.Statement {
        private final Java.EmptyStatement nothing;

        Look(Location location) {
            super(location);
            nothing = new Java.EmptyStatement(location);
        }

        @Override
        public void setEnclosingScope(Java.Scope scope) {
            super.setEnclosingScope(scope);
            nothing.setEnclosingScope(scope);
        }

        @Override
        public <R, E extends Throwable> R accept(BlockStatementVisitor<R, E> visitor) throws E {
            Interrupt.checkCurrent();
            return nothing.accept(visitor);
        }

        @Override
        public String toString() {
            return ";";
        }
    }
}
