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
    void itFollowsWhatIsKeptBetweenItsBounds() {
        HeapGoal goal = goal(4096 * MB);
        goal.look(); // nothing was collected yet
        for (long kept : new long[] {100, 300, 320, 3000, 290}) {
            keptBytes = kept * MB;
            goal.look();
        }
        assertEquals(List.of(768 * MB, 960 * MB, 4096 * MB, 870 * MB), goals); // 900 MB is not worth it
    }

    @Test
    void aSmallHeapIsLeftAsItIs() {
        HeapGoal goal = goal(256 * MB);
        keptBytes = 100 * MB;
        goal.look();
        assertEquals(List.of(), goals);
    }

    @Test
    void theVirtualMachineKnowsTheOption() {
        HotSpotDiagnosticMXBean options = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
        assertTrue(options.getVMOption("SoftMaxHeapSize").isWriteable());
        HeapGoal.ofProcess().look();
    }
}
