package dev.millrace.edge.input;

import dev.millrace.time.Clock;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Random;

/** Readings of a sensor that there is not, as CSV of {@link dev.millrace.edge.config.SensorColumns}: one each so often, those that are late at once. */
final class SensorInput implements Input {
    private static final int MOST_AT_ONCE = 1000;
    private static final double PERIOD = 300; // readings of a wave

    private final Clock clock;
    private final long everyNanos;
    private final Random random;
    private final double phase;
    private long due;
    private long readings;
    private double noise;
    private boolean running = true;

    /** @param seed of what it makes up: another one, another sensor */
    SensorInput(Clock clock, long everyMicros, long seed) {
        this.clock = clock;
        this.everyNanos = everyMicros * 1000;
        this.random = new Random(seed);
        this.phase = random.nextDouble();
        this.due = clock.nanoTime() + (long) (phase * everyNanos); // so that a fleet's do not come at once
    }

    @Override
    public boolean poll(LineMemory into) {
        long now = clock.nanoTime();
        if (now - due < 0) {
            return false;
        }
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < MOST_AT_ONCE && now - due >= 0; i++) {
            lines.append(line());
            due += everyNanos;
        }
        byte[] bytes = lines.toString().getBytes(StandardCharsets.UTF_8);
        into.add(bytes, 0, bytes.length);
        return true;
    }

    private String line() {
        noise = .9 * noise + .05 * random.nextGaussian();
        double temperature = 20 + 5 * Math.sin(2 * Math.PI * (readings / PERIOD + phase)) + noise;
        running ^= random.nextInt(200) == 0;
        return String.format(Locale.ROOT, "%d,%.2f,%s\n", readings++, temperature, running ? "running" : "idle");
    }

    @Override
    public boolean isFinished() {
        return false;
    }

    @Override
    public void close() {}
}
