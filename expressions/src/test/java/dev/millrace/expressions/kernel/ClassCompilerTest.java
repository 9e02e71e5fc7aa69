package dev.millrace.expressions.kernel;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.code.SourceBuilder;
import dev.millrace.interrupt.Interrupt;
import java.io.StringReader;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.function.LongUnaryOperator;
import org.codehaus.janino.ClassLoaderIClassLoader;
import org.codehaus.janino.Java;
import org.codehaus.janino.Parser;
import org.codehaus.janino.Scanner;
import org.codehaus.janino.UnitCompiler;
import org.junit.jupiter.api.Test;

class ClassCompilerTest {
    private static String adding(String name, int number) {
        SourceBuilder source = new SourceBuilder();
        source.line("package generated;");
        source.line("");
        source.open("public final class " + name + " implements java.util.function.LongUnaryOperator");
        source.line("private final long number = " + number + ";");
        source.open("public long applyAsLong(long value)");
        source.line("long sum = 0;");
        source.open("for (int i = 0; i < 10; i++)");
        source.line("sum = Math.addExact(sum, dev.millrace.operator.KeyGroups.of(value) + number);");
        source.close();
        source.line("return value + number;");
        source.close().close();
        return source.toString();
    }

    @Test
    void aSourceBecomesAClassOnce() throws ReflectiveOperationException {
        Class<? extends LongUnaryOperator> first =
                ClassCompiler.compile("generated.Adder", adding("Adder", 3), LongUnaryOperator.class);
        assertEquals(45, first.getConstructor().newInstance().applyAsLong(42));
        assertSame(first, ClassCompiler.compile("generated.Adder", adding("Adder", 3), LongUnaryOperator.class));
        assertNotSame(first, ClassCompiler.compile("generated.Adder", adding("Adder", 4), LongUnaryOperator.class));
    }

    @Test
    void aSourceThatDoesNotCompileIsShownInTheError() {
        MillraceException error = assertThrows(
                MillraceException.class,
                () -> ClassCompiler.compile("generated.Bad", "package generated; class Bad {", Object.class));
        assertTrue(error.getMessage().contains("class Bad"), error.getMessage());
    }

    @Test
    void whatIsTooLongForTheJvmIsSaidSo() {
        String sums = "sum += sum * sum; ".repeat(20_000);
        String source = "package generated; public class Long { long sum; void add() { " + sums + "} }";
        MillraceException error = assertThrows(
                MillraceException.class, () -> ClassCompiler.compile("generated.Long", source, Object.class));
        assertEquals(SqlState.STATEMENT_TOO_COMPLEX, error.sqlState());
    }

    private static long cpuNanos() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    @Test
    void aSmallClassTakesAboutHalfAMillisecond() {
        int classes = 300;
        for (int i = 0; i < classes; i++) {
            ClassCompiler.compile("generated.Warm", adding("Warm", i), LongUnaryOperator.class);
        }
        long start = cpuNanos();
        for (int i = 0; i < classes; i++) {
            ClassCompiler.compile("generated.Timed", adding("Timed", i), LongUnaryOperator.class);
        }
        long micros = (cpuNanos() - start) / 1000 / classes;
        System.out.println("compiling a small class: " + micros + " us");
        assertTrue(micros < 5_000, micros + " us per class"); // ten times the target, for cold and busy machines
    }

    private static final MillraceException WHY = MillraceException.user(SqlState.QUERY_CANCELED, "it is cancelled");

    @Test
    void whatIsStoppedIsNotReadToTheEnd() {
        Interrupt interrupt = new Interrupt();
        try (Interrupt.Binding binding = interrupt.bind()) {
            Looks.Source source = new Looks.Source("x".repeat(100_000));
            char[] some = new char[50_000];
            assertTrue(assertDoesNotThrow(() -> source.read(some, 0, some.length)) < some.length);
            interrupt.stop(WHY);
            assertEquals(
                    WHY.getMessage(),
                    assertThrows(MillraceException.class, () -> source.read(some, 0, some.length))
                            .getMessage());
        }
    }

    @Test
    void whatIsStoppedIsNotCompiledToTheEnd() throws Exception {
        String statements = "sum += sum * sum; ".repeat(100);
        String source = "package generated; public class Stopped { long sum; void add() { " + statements + "} }";
        Java.AbstractCompilationUnit unit =
                new Parser(new Scanner("Stopped", new StringReader(source))).parseAbstractCompilationUnit();
        Looks.addTo(unit);
        UnitCompiler compiler =
                new UnitCompiler(unit, new ClassLoaderIClassLoader(getClass().getClassLoader()));
        Interrupt interrupt = new Interrupt();
        interrupt.stop(WHY);
        try (Interrupt.Binding binding = interrupt.bind()) {
            Throwable stopped = assertThrows(
                    RuntimeException.class, () -> compiler.compileUnit(false, false, false, new ArrayList<>()));
            while (stopped.getCause() != null) {
                stopped = stopped.getCause();
            }
            assertEquals(WHY.getMessage(), stopped.getMessage());
        }
    }

    @Test
    void looksChangeNothingOfWhatIsCompiled() throws ReflectiveOperationException {
        SourceBuilder source = new SourceBuilder();
        source.line("package generated;");
        source.open("public final class Looked implements java.util.function.LongUnaryOperator");
        source.open("public long applyAsLong(long value)");
        source.line("long sum = 0;");
        source.open("for (int i = 0; i < 10; i++)");
        for (int i = 0; i < 40; i++) {
            source.line("long v" + i + " = value + " + i + "; if (v" + i + " % 2 == 0) { sum += v" + i + "; }");
        }
        source.close();
        source.line("return sum;").close().close();
        LongUnaryOperator operator = ClassCompiler.compile(
                        "generated.Looked", source.toString(), LongUnaryOperator.class)
                .getConstructor()
                .newInstance();
        assertEquals(10 * (2 + 40) * 20 / 2, operator.applyAsLong(1)); // ten times the even ones of 1 to 40
    }
}
