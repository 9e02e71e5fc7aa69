package dev.millrace.connectors.system;

import dev.millrace.type.Schema;
import java.util.List;
import java.util.OptionalDouble;

/** One row with the processor's temperature, or none where there is no sensor. */
final class TemperatureProbe implements Probe {
    static final Schema SCHEMA = Columns.of("sensor:text", "celsius");

    private final Machine machine;

    TemperatureProbe(Machine machine) {
        this.machine = machine;
    }

    @Override
    public Schema schema() {
        return SCHEMA;
    }

    @Override
    public List<Object[]> read(long nanoTime) {
        OptionalDouble celsius = machine.temperature(nanoTime);
        return celsius.isEmpty() ? List.of() : List.<Object[]>of(new Object[] {"cpu", celsius.getAsDouble()});
    }
}
