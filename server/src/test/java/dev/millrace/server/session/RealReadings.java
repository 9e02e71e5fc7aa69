package dev.millrace.server.session;

import dev.millrace.server.realdata.DataFolder;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Random;
import java.util.function.Function;
import java.util.zip.GZIPInputStream;

/** Readings of real devices and stations as they are, with gaps, missing values, several devices at a time, and what else files have. */
final class RealReadings {
    private static final DateTimeFormatter SPACED = DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss");
    private static final DateTimeFormatter DOTTED = DateTimeFormatter.ofPattern("dd/MM/uuuu HH.mm.ss");
    private static final int MOST_PASSED = 60_000; // rows before those that are taken

    /** @param load may be missing, as well as {@code value} */
    record Reading(long micros, OptionalDouble value, OptionalDouble load, String text) {}

    /** A file, where its rows have what. */
    private record DataFile(
            String file, String separator, Function<String[], String> time, int value, int load, int text) {}

    private static final List<DataFile> SETS = List.of(
            new DataFile(
                    "tracebase_smartplugs/tracebase_2011-11-28_to_12-05_gappy.csv.gz", ",", cells -> cells[0], 4, 3, 2),
            new DataFile("noaa_asos_weather/asos_EWR_JFK_LGA_2013.csv.gz", ",", cells -> cells[14], 5, 8, 0),
            new DataFile("noaa_asos_weather/asos_MSP_2013.csv", ",", cells -> cells[14], 5, 13, 0),
            new DataFile("nab/realKnownCause/machine_temperature_system_failure.csv", ",", cells -> cells[0], 1, 1, 0),
            new DataFile("uci_air_quality/AirQualityUCI.csv", ";", cells -> cells[0] + " " + cells[1], 12, 3, 0),
            new DataFile(
                    "beijing_multisite_air/PRSA_Data_Dongsi_20130301-20170228.csv.gz",
                    ",",
                    cells -> String.format(
                            "%s-%02d-%02d %02d:00:00",
                            cells[1],
                            Integer.parseInt(cells[2]),
                            Integer.parseInt(cells[3]),
                            Integer.parseInt(cells[4])),
                    11,
                    5,
                    15));

    private RealReadings() {}

    /** Some rows behind each other of one of the sets; empty where there are none. */
    static Optional<List<Reading>> some(Random random, int most) throws IOException {
        DataFile set = SETS.get(random.nextInt(SETS.size()));
        int passed = random.nextInt(MOST_PASSED);
        Optional<Path> path = DataFolder.find(set.file());
        if (path.isEmpty()) {
            return Optional.empty();
        }
        List<String> all = new ArrayList<>();
        try (InputStream raw = Files.newInputStream(path.get());
                InputStream in = set.file().endsWith(".gz") ? new GZIPInputStream(raw, 1 << 16) : raw;
                BufferedReader lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
            lines.readLine(); // the names of columns
            for (String line = lines.readLine(); line != null && all.size() < passed + most; line = lines.readLine()) {
                if (!line.isEmpty() && !line.startsWith(set.separator())) {
                    all.add(line);
                }
            }
        }
        int from = all.size() > most ? Math.min(passed, all.size() - most) : 0; // short files end before
        return Optional.of(all.subList(from, Math.min(all.size(), from + most)).stream()
                .map(line -> reading(set, line.replace("\"", "").split(set.separator(), -1)))
                .toList());
    }

    private static Reading reading(DataFile set, String[] cells) {
        return new Reading(
                micros(set.time().apply(cells)),
                number(cells[set.value()]),
                number(cells[set.load()]),
                cells[set.text()]);
    }

    private static long micros(String time) {
        long seconds = time.endsWith("Z")
                ? Instant.parse(time).getEpochSecond()
                : LocalDateTime.parse(time, time.contains("/") ? DOTTED : SPACED)
                        .toEpochSecond(ZoneOffset.UTC);
        return seconds * 1_000_000;
    }

    private static OptionalDouble number(String text) {
        return text.isEmpty() || text.equals("NA")
                ? OptionalDouble.empty()
                : OptionalDouble.of(Double.parseDouble(text.replace(',', '.')));
    }
}
