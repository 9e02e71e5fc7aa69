package dev.millrace.expressions.wasm;

import static dev.millrace.testing.wasm.WasmAssembler.I32;
import static dev.millrace.testing.wasm.WasmAssembler.I64;
import static dev.millrace.testing.wasm.WasmAssembler.types;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.testing.wasm.SampleModule;
import dev.millrace.testing.wasm.WasmAssembler;
import dev.millrace.type.DataType;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Modules as they come: whole, damaged, and of bad intent. */
class WasmCodeTest {
    private static void isRefused(WasmAssembler module, String why) {
        MillraceException refused = assertThrows(MillraceException.class, () -> WasmCode.of(module.build()));
        assertEquals("42P13", refused.sqlState().code());
        assertTrue(refused.getMessage().contains(why), refused.getMessage());
    }

    @Test
    void instancesHaveMemoriesOfTheirOwn() {
        WasmCode code = WasmCode.of(SampleModule.bytes());
        WasmInstance one = code.instantiate();
        WasmInstance other = code.instantiate();
        assertEquals(1, one.call(one.function("grows"), new long[] {2}));
        assertEquals(3, one.call(one.function("grows"), new long[] {0}));
        assertEquals(1, other.call(other.function("grows"), new long[] {0}));
    }

    @Test
    void aMemoryGrowsToItsLimitAndNotBeyond() {
        WasmInstance instance = WasmCode.of(SampleModule.bytes()).instantiate();
        assertEquals(-1, (int) instance.call(instance.function("grows"), new long[] {WasmCode.MOST_PAGES}));
        assertEquals(1, instance.call(instance.function("grows"), new long[] {WasmCode.MOST_PAGES - 1}));
    }

    @Test
    void whatReachesOutOrHoldsTooMuchIsRefused() {
        isRefused(new WasmAssembler().imports("env", "now").memory(1), "imports function \"env\".\"now\"");
        isRefused(new WasmAssembler().memory(WasmCode.MOST_PAGES + 1), "begins with 257");
        isRefused(new WasmAssembler().table(1_000_000), "tables");
        isRefused(
                new WasmAssembler().table(1).function("f", types(), types(I32), 0xd0, 0x70, 0x41, 1, 0xfc, 15, 0),
                "table.grow");
        MillraceException large =
                assertThrows(MillraceException.class, () -> WasmCode.of(new byte[WasmCode.MOST_BYTES + 1]));
        assertEquals("42P13", large.sqlState().code());
    }

    @Test
    void aFunctionThatIsNotWhatSqlSaysIsRefusedWithBothSignatures() {
        WasmCode code = WasmCode.of(SampleModule.bytes());
        code.check("mixed", List.of(DataType.BIGINT, DataType.BIGINT), DataType.BIGINT);
        code.check("reversed", List.of(DataType.TEXT), DataType.TEXT);
        MillraceException other = assertThrows(
                MillraceException.class,
                () -> code.check("mixed", List.of(DataType.BIGINT, DataType.DOUBLE), DataType.BIGINT));
        assertTrue(
                other.getMessage().contains("(i64, i64) -> i64")
                        && other.getMessage().contains("need (i64, f64) -> i64"),
                other.getMessage());
        assertTrue(assertThrows(MillraceException.class, () -> code.check("none", List.of(), DataType.BIGINT))
                .getMessage()
                .contains("no function \"none\", but \"scaled\""));
        WasmCode mute = WasmCode.of(new WasmAssembler()
                .memory(1)
                .function("f", types(I32, I32), types(I64), 0x42, 0)
                .build());
        assertTrue(assertThrows(MillraceException.class, () -> mute.check("f", List.of(DataType.TEXT), DataType.TEXT))
                .getMessage()
                .contains("\"alloc\""));
    }

    /** Bytes cut off and flipped at random: each module is refused by a message, or gives an answer, or fails as calls do. */
    @Test
    void aDamagedModuleIsAMessageOrAnAnswer() {
        byte[] whole = SampleModule.bytes();
        long seed = System.nanoTime();
        Random random = new Random(seed);
        int refused = 0;
        for (int round = 0; round < 1_000; round++) {
            byte[] damaged = whole.clone();
            if (round % 4 == 0) {
                damaged = Arrays.copyOf(damaged, random.nextInt(whole.length));
            }
            for (int flips = round % 4 == 0 ? 0 : 1 + random.nextInt(4); flips > 0; flips--) {
                damaged[random.nextInt(damaged.length)] ^= (byte) (1 << random.nextInt(8));
            }
            try {
                runs(WasmCode.of(damaged));
            } catch (MillraceException e) {
                assertEquals("42P13", e.sqlState().code(), () -> "seed " + seed + ": " + e);
                refused++;
            } catch (Throwable e) {
                throw new AssertionError("seed " + seed + ", round " + round, e);
            }
        }
        assertTrue(refused > 500, refused + " of 1,000 were refused, seed " + seed);
    }

    private static void runs(WasmCode code) {
        code.check("mixed", List.of(DataType.BIGINT, DataType.BIGINT), DataType.BIGINT);
        Thread.currentThread().interrupt(); // so that what loops ends
        try {
            WasmInstance instance = code.instantiate();
            instance.call(instance.function("mixed"), new long[] {6, 3});
        } catch (RuntimeException | StackOverflowError | LinkageError | AssertionError e) {
            assertTrue(!WasmCode.reason(e).isEmpty());
        } finally {
            Thread.interrupted();
        }
    }
}
