package dev.millrace.connectors.system;

import dev.millrace.type.Schema;
import java.util.function.Function;

/** The tables of the source. */
enum SystemTable {
    SUMMARY(SummaryProbe.SCHEMA, SummaryProbe::new),
    CPU(CpuProbe.SCHEMA, CpuProbe::new),
    DISK(DiskProbe.SCHEMA, DiskProbe::new),
    NETWORK(NetworkProbe.SCHEMA, NetworkProbe::new),
    TEMPERATURE(TemperatureProbe.SCHEMA, TemperatureProbe::new);

    private final Schema schema;
    private final Function<Machine, Probe> probe;

    SystemTable(Schema schema, Function<Machine, Probe> probe) {
        this.schema = schema;
        this.probe = probe;
    }

    Schema schema() {
        return schema;
    }

    Probe probe(Machine machine) {
        return probe.apply(machine);
    }
}
