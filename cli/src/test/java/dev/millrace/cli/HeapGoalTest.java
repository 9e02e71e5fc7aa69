package dev.millrace.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryUsage;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The size that a server wants its heap to have. */
class HeapGoalTest {
    private static final long MB = 1 << 20;

    private final List<Long> goals = new ArrayList<>();
    private long keptBytes;

    private HeapGoal goal(long mostBytes) {
        MemoryPoolMXBean pool = (MemoryPoolMXBean) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {MemoryPoolMXBean.class}, (self, method, arguments) -> {
                    assertEquals("getCollectionUsage", method.getName());
                    return keptBytes == 0 ? null : new MemoryUsage(0, keptBytes, keptBytes, mostBytes);
                });
        return new HeapGoal(Optional.of(pool), mostBytes, goals::add);
    }

    @Test
    void itRisesAtOnceWithWhatIsKept() {
        HeapGoal goal = goal(8192 * MB);
        goal.begin();
        goal.look(0); // nothing was collected yet
        for (long kept : new long[] {100, 350, 500, 520, 3000}) {
            keptBytes = kept * MB;
            goal.look(0);
        }
        assertEquals(List.of(1024 * MB, 1500 * MB, 8192 * MB), goals); // a little more is not worth it
    }

    @Test
    void itFallsToTheMostThatWasWantedWhileLessDidForLong() {
        HeapGoal goal = goal(8192 * MB);
        goal.begin();
        keptBytes = 2000 * MB;
        goal.look(0);
        goals.clear();
        keptBytes = 500 * MB;
        goal.look(1);
        keptBytes = 1000 * MB;
        goal.look(HeapGoal.PATIENCE_NANOS / 2);
        keptBytes = 400 * MB;
        goal.look(HeapGoal.PATIENCE_NANOS);
        assertEquals(List.of(), goals);
        goal.look(HeapGoal.PATIENCE_NANOS + 2);
        assertEquals(List.of(3000 * MB), goals);
    }

    @Test
    void whatIsWantedAgainMeanwhileKeepsItWhereItIs() {
        HeapGoal goal = goal(8192 * MB);
        goal.begin();
        keptBytes = 2000 * MB;
        goal.look(0);
        goals.clear();
        for (long look = 1; look < 20; look++) {
            keptBytes = (look % 2 == 0 ? 2000 : 100) * MB;
            goal.look(look * HeapGoal.PATIENCE_NANOS);
        }
        assertEquals(List.of(), goals);
    }

    @Test
    void aSmallHeapIsLeftAsItIs() {
        HeapGoal goal = goal(256 * MB);
        goal.begin();
        keptBytes = 100 * MB;
        goal.look(0);
        assertEquals(List.of(256 * MB), goals);
    }

    @Test
    void theVirtualMachineKnowsTheOption() {
        HotSpotDiagnosticMXBean options = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
        assertTrue(options.getVMOption("SoftMaxHeapSize").isWriteable());
        HeapGoal.ofProcess().begin();
    }
}
