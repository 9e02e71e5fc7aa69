package dev.millrace.engine.heap;

import com.sun.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.util.List;
import java.util.Optional;

/** Who collects the Java heap, and where its old objects are: the same questions of each of the JVM's collectors. */
public final class HeapCollectors {
    private HeapCollectors() {}

    /** Those that say what is left in use; collectors that work beside the program have others that only count their pauses. */
    public static List<GarbageCollectorMXBean> all() {
        return ManagementFactory.getPlatformMXBeans(GarbageCollectorMXBean.class).stream()
                .filter(collector -> isCollector(collector.getName()))
                .toList();
    }

    /** Whether what a collector of this name reports is what it left. */
    public static boolean isCollector(String name) {
        return !name.endsWith(" Pauses");
    }

    /** Where old objects are, be it the whole heap; empty of a collector that does not say what it leaves there. */
    public static Optional<MemoryPoolMXBean> old() {
        return ManagementFactory.getMemoryPoolMXBeans().stream()
                .filter(pool -> pool.getType() == MemoryType.HEAP && pool.isCollectionUsageThresholdSupported())
                .filter(pool -> pool.getName().matches(".*(Old|Tenured).*|Shenandoah|ZHeap"))
                .findFirst();
    }
}
