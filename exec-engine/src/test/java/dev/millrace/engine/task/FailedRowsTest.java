package dev.millrace.engine.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.FailureText;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("long")
class FailedRowsTest {
    private static MillraceException failure(String text) {
        return MillraceException.user(SqlState.EXTERNAL_ROUTINE_EXCEPTION, text);
    }

    /** Messages may quote what users' code was given. */
    @Test
    void ofALongMessageTheBeginningIsKept() {
        MillraceException why = failure("x".repeat(1 << 20));
        FailedRows failures = new FailedRows(false);
        FailedRows.Part part = failures.newPart();
        part.failed(why, 1);
        assertTrue(failures.failure().orElseThrow().getMessage().length() < 1_000);
        part.failed(FailureText.shortened(why), -1);
        assertTrue(failures.failure().isEmpty());
    }

    @Test
    void whatIsKeptAsBytesIsTheSameFailure() {
        for (String text :
                new String[] {"", "a line\nand another", "ö😀", "x".repeat(499) + "😀😀", "😀".repeat(1_000)}) {
            MillraceException kept = FailureText.shortened(failure(text));
            MillraceException again = FailureText.of(FailureText.bytes(kept));
            assertEquals(kept.getMessage(), again.getMessage());
            assertEquals(kept.sqlState(), again.sqlState());
            assertTrue(text.startsWith(kept.getMessage().replaceAll("\\.\\.$", "")), kept.getMessage());
        }
    }

    private static final MillraceException A = failure("a");
    private static final MillraceException B = failure("b");

    private static void fail(FailedRows rows, boolean forGood, MillraceException why, long weight, long epoch) {
        FailedRows.Part part = rows.newPart(forGood);
        part.failed(why, weight);
        part.epochEnd(epoch);
    }

    private static FailedRows copy(FailedRows rows) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        rows.save(new DataOutputStream(bytes));
        FailedRows copy = new FailedRows(true);
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes.toByteArray()));
        copy.restore(in, FailedRows.VERSION);
        assertEquals(-1, in.read());
        return copy;
    }

    @Test
    void whatIsForGoodStopsUntilItIsLeftOut() throws IOException {
        FailedRows rows = new FailedRows(true);
        fail(rows, true, A, 1, 7);
        assertEquals(Optional.empty(), rows.publish(6));
        assertFalse(rows.isStopped());
        assertEquals("a", rows.publish(7).orElseThrow().getMessage());
        fail(rows, true, B, 2, 8);
        assertEquals(Optional.empty(), rows.publish(8)); // it was stopped before
        for (FailedRows each : List.of(rows, copy(rows))) {
            assertEquals("a", each.stopped().orElseThrow().getMessage());
            assertEquals("a", each.goOn().orElseThrow().getMessage());
            assertEquals(3, each.leaveOut());
            assertEquals(0, each.leaveOut());
            assertTrue(each.isStopped()); // until somebody says so
            assertEquals(Optional.empty(), copy(each).goOn());
            assertEquals(Optional.empty(), each.goOn());
            assertFalse(each.isStopped());
            assertEquals(
                    List.of("a 1", "b 2"),
                    copy(each).leftOut().stream()
                            .map(left -> left.failure().getMessage() + " " + left.rows())
                            .toList());
            fail(each, true, A, 1, 9);
            assertEquals("a", each.publish(9).orElseThrow().getMessage());
        }
    }

    @Test
    void whatIsTakenBackStopsOnlyWhereNobodyReadsAgain() {
        for (boolean anyStops : new boolean[] {false, true}) {
            FailedRows rows = new FailedRows(true, anyStops);
            fail(rows, false, A, 1, 1);
            assertEquals(anyStops, rows.publish(1).isPresent());
            assertEquals("a", rows.failure().orElseThrow().getMessage());
            fail(rows, false, A, -1, 2);
            rows.publish(2);
            assertEquals(Optional.empty(), rows.failure());
            assertEquals(anyStops, rows.isStopped());
            assertEquals(Optional.empty(), rows.goOn());
            assertFalse(rows.isStopped());
        }
    }

    /** Nobody knows which of alike rows went: no failure is hidden, at the price of one that is shown again. */
    @Test
    void whatWasLeftOutIsSaidToGoFirst() throws IOException {
        FailedRows rows = new FailedRows(true);
        fail(rows, false, A, 2, 1);
        rows.publish(1);
        assertEquals(2, rows.leaveOut());
        assertEquals(Optional.empty(), rows.failure());
        rows = copy(rows);
        fail(rows, false, A, 1, 2);
        rows.publish(2);
        assertEquals("a", rows.failure().orElseThrow().getMessage());
        fail(rows, false, A, -1, 3);
        rows.publish(3);
        assertEquals("a", rows.failure().orElseThrow().getMessage());
        assertEquals(1, rows.leaveOut());
        fail(rows, false, A, -2, 4);
        rows.publish(4);
        assertEquals(Optional.empty(), rows.failure());
        fail(rows, false, A, 1, 5); // none of those that went covers it
        rows.publish(5);
        assertEquals("a", rows.failure().orElseThrow().getMessage());
    }

    @Test
    void textsBeyondThoseToldApartAreCounted() throws IOException {
        FailedRows rows = new FailedRows(true);
        for (boolean forGood : new boolean[] {false, true}) {
            FailedRows.Part part = rows.newPart(forGood);
            for (int i = 0; i < 2_500; i++) {
                part.failed(failure("row " + i), 1);
            }
            part.epochEnd(1);
        }
        rows.publish(1);
        rows = copy(rows);
        assertEquals(5_000, rows.leaveOut());
        assertEquals(Optional.empty(), rows.failure());
        assertEquals(
                5_000,
                rows.leftOut().stream().mapToLong(FailedRows.LeftOut::rows).sum());
        fail(rows, false, failure("row 2400"), 1, 2);
        rows.publish(2);
        assertEquals("row 2400", rows.failure().orElseThrow().getMessage());
        fail(rows, false, failure("row 2400"), -1, 3);
        for (int i = 0; i < 2_500; i++) {
            fail(rows, false, failure("row " + i), -1, 3);
        }
        rows.publish(3);
        assertEquals(Optional.empty(), rows.failure());
    }

    /** Also in epochs that what is read has not shown yet. */
    @Test
    void whoReadsWhatIsStoppedIsStopped() {
        FailedRows below = new FailedRows(true);
        FailedRows between = new FailedRows(true);
        FailedRows above = new FailedRows(true);
        between.reads("below", below);
        between.reads("table", FailedRows.NONE);
        above.reads("between", between);
        fail(below, true, A, 1, 5);
        assertEquals(Optional.empty(), above.stoppedAt(4));
        assertTrue(above.stoppedAt(5).isPresent());
        assertEquals(Optional.empty(), above.stopped());
        below.publish(5);
        assertEquals(
                "query \"between\" failed: query \"below\" failed: a",
                above.stopped().orElseThrow().getMessage());
        assertFalse(above.isStopped());
        below.leaveOut();
        below.goOn();
        assertEquals(Optional.empty(), above.stopped());
    }

    /** As releases before wrote them. */
    @Test
    void failuresOfVersionOneAreRead() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        byte[] text = FailureText.bytes(A);
        out.writeInt(1);
        out.writeLong(3);
        out.writeInt(text.length);
        out.write(text);
        out.writeLong(4);
        FailedRows rows = new FailedRows(true);
        rows.restore(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())), 1);
        assertEquals("a", rows.failure().orElseThrow().getMessage());
        assertFalse(rows.isStopped());
        assertEquals(4, rows.leaveOut());
    }

    /** Who reads the query asks by an epoch that the query may publish just now. */
    @Test
    void whoReadsAStoppedQueryIsStoppedByTheSameEpoch() throws Exception {
        for (int i = 0; i < 3_000; i++) {
            FailedRows read = new FailedRows(true);
            FailedRows reading = new FailedRows(true);
            reading.reads("q", read);
            FailedRows.Part part = read.newPart(true);
            part.failed(failure("division by zero"), 1);
            part.epochEnd(1);
            AtomicBoolean begin = new AtomicBoolean();
            Thread publishing = new Thread(() -> {
                while (!begin.get()) {
                    Thread.onSpinWait();
                }
                read.publish(1);
            });
            publishing.start();
            begin.set(true);
            boolean stopped = true;
            while (publishing.isAlive()) {
                stopped &= reading.stoppedAt(1).isPresent();
            }
            assertTrue(stopped && reading.stoppedAt(1).isPresent(), "round " + i);
        }
    }
}
