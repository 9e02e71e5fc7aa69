package dev.millrace.benchmarks.sketch;

import dev.millrace.sketch.csv.CsvStream;
import dev.millrace.sketch.csv.CsvTable;
import dev.millrace.sketch.schema.Binning;
import dev.millrace.sketch.schema.Bound;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.zip.GZIPInputStream;

/** The real sets, one stream of each: the twelve that were measured before building, and some more. */
public final class DataSets {
    private static final int DAY_SECONDS = 86_400;

    private static final int ROWS = 65_536;
    private static final List<String> PLUGS = List.of(
            "AF6490", "599185", "98ABAA", "B7BED4", "59ADA7", "B81544", "599393", "7296D7", "98ABD2", "D36601",
            "5525DD", "B8148C");

    private final Path root;

    public DataSets(Path root) {
        this.root = root;
    }

    /** Where the sets are, if nothing else is said. */
    public static Path defaultRoot() {
        return Path.of(Optional.ofNullable(System.getenv("MILLRACE_DATA")).orElse("../shared/data"));
    }

    /** All sets that are there; says which are not. */
    public List<TimeSeries> all() {
        List<TimeSeries> sets = new ArrayList<>();
        add(sets, "fridge plug", () -> plug("599393"));
        add(sets, "router plug", () -> plug("B8148C"));
        add(sets, "desktop plug", () -> plug("59ADA7"));
        String household = "uci_household_power/household_power_2007H1.csv.gz";
        add(sets, "household power", () -> columns(household, "Global_active_power"));
        add(sets, "ECG 360 Hz", () -> columns("physio_ecg_resp/mitbih_100_360hz.csv.gz", "MLII_mV"));
        String beijing = "beijing_multisite_air/PRSA_Data_Aotizhongxin_20130301-20170228.csv.gz";
        add(sets, "PM2.5", () -> columns(beijing, "PM2.5"));
        add(sets, "weather temp.", () -> columns("noaa_asos_weather/asos_SEA_2015.csv", "temp"));
        add(sets, "machine temp.", () -> columns("nab/realKnownCause/machine_temperature_system_failure.csv", "value"));
        add(sets, "12 plugs", this::plugs);
        String equipment = "debs2012_manufacturing/debs2012_100hz_17000.csv.gz";
        add(
                sets,
                "equipment",
                () -> columns(
                        equipment, "mf01", "mf02", "mf03", "pc13", "pc14", "pc15", "pc25", "pc26", "pc27", "res",
                        "bm05", "bm06", "bm07", "bm08", "bm09", "bm10"));
        add(sets, "equipment, 3 analog", () -> columns(equipment, "pc13", "pc14", "pc15"));
        add(
                sets,
                "Beijing air",
                () -> columns(
                        beijing, "PM2.5", "PM10", "SO2", "NO2", "CO", "O3", "TEMP", "PRES", "DEWP", "RAIN", "WSPM"));
        add(
                sets,
                "household, 7",
                () -> columns(
                        household,
                        "Global_active_power",
                        "Global_reactive_power",
                        "Voltage",
                        "Global_intensity",
                        "Sub_metering_1",
                        "Sub_metering_2",
                        "Sub_metering_3"));
        add(sets, "respiration 125 Hz", () -> columns("physio_ecg_resp/bidmc_01_Signals.csv.gz", "RESP"));
        add(sets, "cloud CPU", () -> columns("nab/realAWSCloudwatch/ec2_cpu_utilization_5f5533.csv", "value"));
        add(sets, "taxi demand", () -> columns("nab/realKnownCause/nyc_taxi.csv", "value"));
        add(
                sets,
                "air quality, 5",
                () -> columns(
                        "uci_air_quality/AirQualityUCI.csv",
                        "PT08.S1(CO)",
                        "PT08.S2(NMHC)",
                        "PT08.S3(NOx)",
                        "T",
                        "RH"));
        add(sets, "cab, 2", () -> columns("gps_traces/cabspotting_new_abboip.txt", "c1", "c2"));
        return sets;
    }

    private interface Loader {
        TimeSeries load() throws IOException;
    }

    private static void add(List<TimeSeries> sets, String name, Loader loader) {
        try {
            TimeSeries loaded = loader.load().truncated(ROWS);
            sets.add(new TimeSeries(name, loaded.micros(), loaded.features()));
        } catch (IOException | UncheckedIOException | dev.millrace.error.MillraceException e) {
            System.err.println("skipped because it cannot be read: " + name + " (" + e.getMessage() + ")");
        }
    }

    /** A CSV file as it is: its time and all its numbers. */
    static TimeSeries file(Path path) {
        CsvStream stream = CsvStream.of(
                CsvTable.read(path, ROWS),
                new CsvStream.Options(Optional.empty(), Bound.exact(), Map.of(), Binning.SMALLEST, BigDecimal.ZERO));
        List<double[]> features = new ArrayList<>();
        for (List<Optional<Object>> column : stream.values()) {
            if (column.stream().flatMap(Optional::stream).allMatch(Number.class::isInstance)) {
                features.add(numbers(column));
            }
        }
        return new TimeSeries(path.getFileName().toString(), stream.ticks(), features);
    }

    private static double[] numbers(List<Optional<Object>> column) {
        return column.stream()
                .mapToDouble(value -> value.map(v -> ((Number) v).doubleValue()).orElse(Double.NaN))
                .toArray();
    }

    private TimeSeries columns(String file, String... names) {
        CsvTable table = CsvTable.read(root.resolve(file), ROWS);
        List<double[]> features = new ArrayList<>();
        for (String name : names) {
            features.add(table.columns().get(table.names().indexOf(name)).stream()
                    .mapToDouble(field -> CsvTable.number(field).orElse(Double.NaN))
                    .toArray());
        }
        CsvStream stream = CsvStream.of(
                table,
                new CsvStream.Options(Optional.empty(), Bound.exact(), Map.of(), Binning.SMALLEST, BigDecimal.ZERO));
        return new TimeSeries(file, stream.ticks(), features);
    }

    private record Reading(long second, double watts) {}

    private List<Reading> readings(List<String> devices, List<Integer> which) throws IOException {
        List<Reading> readings = new ArrayList<>();
        Path path = root.resolve("tracebase_smartplugs/tracebase_2012-01-20.csv.gz");
        if (!Files.exists(path)) {
            throw new IOException("there is no file " + path);
        }
        try (BufferedReader reader =
                new BufferedReader(new InputStreamReader(new GZIPInputStream(Files.newInputStream(path)), "UTF-8"))) {
            reader.readLine();
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                String device = line.substring(20, line.indexOf(',', 20));
                int index = devices.indexOf(device);
                if (index >= 0) {
                    String[] fields = line.split(",");
                    readings.add(new Reading(second(line), Double.parseDouble(fields[3])));
                    which.add(index);
                }
            }
        }
        return readings;
    }

    private TimeSeries plug(String device) throws IOException {
        List<Reading> readings = readings(List.of(device), new ArrayList<>());
        return new TimeSeries(
                device,
                readings.stream().mapToLong(r -> r.second * 1_000_000).toArray(),
                List.of(readings.stream().mapToDouble(Reading::watts).toArray()));
    }

    /** A day of each plug there is, second by second the last known reading; seconds before the first have that. */
    List<double[]> everyPlug() throws IOException {
        Map<String, double[]> days = new TreeMap<>();
        Path path = root.resolve("tracebase_smartplugs/tracebase_2012-01-20.csv.gz");
        try (BufferedReader reader = new BufferedReader(
                new InputStreamReader(new GZIPInputStream(Files.newInputStream(path)), StandardCharsets.UTF_8))) {
            reader.readLine();
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                String[] fields = line.split(",");
                double[] day = days.computeIfAbsent(fields[1], device -> {
                    double[] unknown = new double[DAY_SECONDS];
                    Arrays.fill(unknown, Double.NaN);
                    return unknown;
                });
                int second = Math.toIntExact(second(line));
                if (second < DAY_SECONDS) {
                    day[second] = Double.parseDouble(fields[3]);
                }
            }
        }
        days.values().forEach(DataSets::carryOn);
        return List.copyOf(days.values());
    }

    private static void carryOn(double[] day) {
        double last = Arrays.stream(day).filter(Double::isFinite).findFirst().orElse(0);
        for (int second = 0; second < day.length; second++) {
            last = Double.isNaN(day[second]) ? last : day[second];
            day[second] = last;
        }
    }

    private static long second(String line) {
        return Integer.parseInt(line.substring(11, 13)) * 3600L
                + Integer.parseInt(line.substring(14, 16)) * 60L
                + Integer.parseInt(line.substring(17, 19));
    }

    /** Twelve plugs side by side: each second the last known reading of each. */
    private TimeSeries plugs() throws IOException {
        List<Integer> which = new ArrayList<>();
        List<Reading> readings = readings(PLUGS, which);
        long[] ticks = new long[ROWS];
        List<double[]> features = new ArrayList<>();
        PLUGS.forEach(plug -> features.add(new double[ROWS]));
        double[] last = new double[PLUGS.size()];
        int at = 0;
        for (int second = 0; second < ROWS; second++) {
            while (at < readings.size() && readings.get(at).second <= second) {
                last[which.get(at)] = readings.get(at).watts;
                at++;
            }
            ticks[second] = second * 1_000_000L;
            for (int f = 0; f < last.length; f++) {
                features.get(f)[second] = last[f];
            }
        }
        return new TimeSeries("12 plugs", ticks, features);
    }

    static double[] finite(double[] values) {
        return Arrays.stream(values).filter(Double::isFinite).toArray();
    }
}
