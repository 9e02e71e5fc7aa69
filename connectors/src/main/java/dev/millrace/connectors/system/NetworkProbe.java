package dev.millrace.connectors.system;

import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import oshi.hardware.NetworkIF;

/** One row per network interface. */
final class NetworkProbe implements Probe {
    static final Schema SCHEMA = Columns.of(
            "interface:text", "in_bytes", "out_bytes", "in_packets", "out_packets", "in_errors", "out_errors");

    private final Machine machine;
    private final Map<String, Rate> rates = new HashMap<>();

    NetworkProbe(Machine machine) {
        this.machine = machine;
    }

    @Override
    public Schema schema() {
        return SCHEMA;
    }

    @Override
    public List<Object[]> read(long nanoTime) {
        List<Object[]> rows = new ArrayList<>();
        for (NetworkIF network : machine.networks(nanoTime)) {
            double[] perSecond = rates.computeIfAbsent(network.getName(), name -> new Rate())
                    .perSecond(
                            machine.networksNanoTime(),
                            network.getBytesRecv(),
                            network.getBytesSent(),
                            network.getPacketsRecv(),
                            network.getPacketsSent(),
                            network.getInErrors(),
                            network.getOutErrors());
            rows.add(new Object[] {
                network.getName(), perSecond[0], perSecond[1], perSecond[2], perSecond[3], perSecond[4], perSecond[5]
            });
        }
        return rows;
    }
}
