package dev.millrace.connectors.file;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.connector.Source;
import dev.millrace.memory.Memory;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.type.DataType;
import dev.millrace.type.Schema;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The dirt of real sensor files: counts and sums are those of DuckDB's reader, or facts of the data sets' READMEs. */
@Tag("long")
class RealDataTest {
    private static final Schema NONE = new Schema(List.of());

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    /** Rows, and per column how many values there are, their sum as numbers, or their total length as text. */
    private static final class Totals {
        long rows;
        long[] values;
        double[] sums;

        void add(Batch batch) {
            if (values == null) {
                values = new long[batch.columnCount()];
                sums = new double[batch.columnCount()];
            }
            rows += batch.rowCount();
            for (int column = 0; column < batch.columnCount(); column++) {
                DataType type = batch.schema().type(column);
                for (int row = 0; row < batch.rowCount(); row++) {
                    if (!batch.column(column).isNull(row)) {
                        values[column]++;
                        sums[column] += number(batch, type, column, row);
                    }
                }
            }
        }

        private static double number(Batch batch, DataType type, int column, int row) {
            return switch (type.kind()) {
                case DOUBLE -> Memory.getDouble(batch.dataAddress(column) + 8L * row);
                case BIGINT, TIMESTAMP, TIMESTAMPTZ, TIME -> Memory.getLong(batch.dataAddress(column) + 8L * row);
                case INTEGER, DATE -> Memory.getInt(batch.dataAddress(column) + 4L * row);
                case BOOLEAN -> Memory.getBit(batch.dataAddress(column), row) ? 1 : 0;
                default -> {
                    long offsets = batch.offsetsAddress(column) + 4L * row;
                    yield Memory.getInt(offsets + 4) - Memory.getInt(offsets);
                }
            };
        }
    }

    private FileScan scan;

    private Totals totals(Source source) {
        scan = new FileScan(memory.allocator());
        Totals totals = new Totals();
        scan.each(source, FileScan.allColumns(source), 2, totals::add);
        return totals;
    }

    private static Source source(Schema schema, String file, String... options) {
        List<String> all = new ArrayList<>(List.of("path", FileScan.data(file).toString()));
        all.addAll(List.of(options));
        return FileScan.source(schema, all.toArray(String[]::new));
    }

    /** Compares every column's count and sum with what DuckDB reads from the same file. */
    private void assertAgrees(Source source, String file, String duckOptions) throws SQLException {
        Totals ours = totals(source);
        Path path = FileScan.data(file);
        try (Connection duck = DriverManager.getConnection("jdbc:duckdb:");
                Statement statement = duck.createStatement()) {
            StringBuilder query = new StringBuilder("select count(*)");
            for (int column = 0; column < source.schema().size(); column++) {
                String name = "\"" + source.schema().field(column).name() + "\"";
                String number = switch (source.schema().type(column).kind()) {
                    case TIMESTAMP, TIMESTAMPTZ -> "epoch_us(" + name + ")::double";
                    case DATE -> "(epoch_us(" + name + "::timestamp) / 86400000000)::double";
                    case TEXT -> "strlen(" + name + ")";
                    case BOOLEAN -> name + "::int";
                    default -> name + "::double";
                };
                query.append(", count(")
                        .append(name)
                        .append("), coalesce(sum(")
                        .append(number)
                        .append("), 0)");
            }
            query.append(" from read_csv('")
                    .append(path)
                    .append("'")
                    .append(duckOptions)
                    .append(")");
            try (ResultSet result = statement.executeQuery(query.toString())) {
                result.next();
                assertEquals(result.getLong(1), ours.rows, "rows of " + file);
                for (int column = 0; column < source.schema().size(); column++) {
                    String what = source.schema().field(column) + " of " + file;
                    assertEquals(result.getLong(2 + 2 * column), ours.values[column], "values of " + what);
                    double sum = result.getDouble(3 + 2 * column);
                    assertEquals(sum, ours.sums[column], Math.abs(sum) * 1e-11, "sum of " + what);
                }
            }
        }
    }

    @Test
    void householdPowerHasTwoDateFormatsAndQuestionMarks() {
        Schema schema = FileScan.schema(
                "index",
                DataType.BIGINT,
                "date",
                DataType.DATE,
                "time",
                DataType.TIME,
                "global_active_power",
                DataType.DOUBLE,
                "voltage",
                DataType.DOUBLE,
                "sub_metering_3",
                DataType.DOUBLE);
        Source source = source(
                schema,
                "uci_household_power/household_power_2007H1.csv.gz",
                "null",
                "?",
                "date_format",
                "D/M/YY|D/M/YYYY");
        Totals totals = totals(source);
        assertEquals(List.of(), scan.rejections());
        assertEquals(260_640, totals.rows);
        assertEquals(260_640, totals.values[1]);
        assertEquals(260_640 - 3_771, totals.values[3]);
        assertEquals(260_640 - 3_771, totals.values[5]);
        double days = 0; // each minute of 2007-01-01 to 2007-06-30
        for (int day = 13_514; day < 13_514 + 181; day++) {
            days += 1440.0 * day;
        }
        assertEquals(days, totals.sums[1]);
        assertEquals(181.0 * 1439 * 1440 / 2 * 60e6, totals.sums[2]);
    }

    @Test
    void beijingAirHasNotAvailable() throws SQLException {
        String files = "beijing_multisite_air/*.csv.gz";
        Source source = source(NONE, files, "null", "NA");
        assertEquals("no bigint", source.schema().field(0).toString());
        assertAgrees(source, files, ", nullstr='NA', normalize_names=false");
        assertEquals(420_768, totals(source).rows);
        assertEquals(List.of(), scan.rejections());
    }

    @Test
    void uciAirHasDecimalCommasAndEmptyLines() {
        Schema schema = FileScan.schema(
                "date",
                DataType.DATE,
                "time",
                DataType.TIME,
                "CO(GT)",
                DataType.DOUBLE,
                "T",
                DataType.DOUBLE,
                "AH",
                DataType.DOUBLE,
                "C6H6(GT)",
                DataType.DOUBLE);
        Source source = source(
                schema,
                "uci_air_quality/AirQualityUCI.csv",
                "delimiter",
                ";",
                "decimal_comma",
                "true",
                "date_format",
                "DD/MM/YYYY",
                "time_format",
                "HH24.MI.SS");
        Totals totals = totals(source);
        assertEquals(List.of(), scan.rejections());
        assertEquals(9_471, totals.rows);
        for (long values : totals.values) {
            assertEquals(9_357, values);
        }
    }

    @Test
    void decimalCommasAndQuestionMarksAgreeWithDuckDb() throws SQLException {
        String air = "uci_air_quality/AirQualityUCI.csv";
        Schema gases = FileScan.schema(
                "CO(GT)", DataType.DOUBLE, "NOx(GT)", DataType.BIGINT, "T", DataType.DOUBLE, "AH", DataType.DOUBLE);
        assertAgrees(
                source(gases, air, "delimiter", ";", "decimal_comma", "true"),
                air,
                ", delim=';', decimal_separator=',', header=true");
        String power = "uci_household_power/household_power_2007H1.csv.gz";
        Schema measures = FileScan.schema(
                "index", DataType.BIGINT, "Global_active_power", DataType.DOUBLE, "Voltage", DataType.DOUBLE);
        assertAgrees(source(measures, power, "null", "?"), power, ", nullstr=['?', '']");
    }

    @Test
    void libraryMotesHaveLatin1BlanksCommasAndThousands() {
        Schema schema = FileScan.schema(
                "at",
                DataType.TIMESTAMPTZ,
                "node",
                DataType.INTEGER,
                "sequence",
                DataType.INTEGER,
                "t1",
                DataType.DOUBLE,
                "v",
                DataType.DOUBLE,
                "h",
                DataType.DOUBLE,
                "t2",
                DataType.DOUBLE,
                "par",
                DataType.DOUBLE,
                "tsr",
                DataType.DOUBLE);
        long rows = 0;
        for (String file : List.of("library1_R1.txt", "library1_R2.txt", "library1_R3.txt", "library2_readings.txt")) {
            Source source = source(
                    schema,
                    "wsn_ulb_library/" + file,
                    "format",
                    "csv",
                    "header",
                    "false",
                    "delimiter",
                    "space",
                    "encoding",
                    "latin-1",
                    "decimal_comma",
                    "true",
                    "thousands",
                    "nbsp",
                    "timestamp_format",
                    "unix_ms");
            Totals totals = totals(source);
            assertEquals(List.of(), scan.rejections(), file);
            rows += totals.rows;
            assertEquals(totals.rows, totals.values[2], file);
        }
        assertEquals(7_563 + 11_110 + 11_029 + 7_114, rows);
    }

    @Test
    void currentTransformersHaveNulBytesAndTornLines() {
        Schema schema =
                FileScan.schema("at", DataType.TIMESTAMPTZ, "channel", DataType.INTEGER, "amps", DataType.DOUBLE);
        Source source =
                source(schema, "iawe_home/ct_data_controlled.csv", "header", "false", "timestamp_format", "unix");
        Totals totals = totals(source);
        assertEquals(29_455, totals.rows + scan.rejected.size());
        assertEquals(2, scan.rejected.size(), scan.rejections().toString());
        assertEquals(
                "1 channel 22021 invalid byte sequence for encoding \"UTF8\": 0x00",
                scan.rejections().get(0));
        assertTrue(
                scan.rejections().get(1).contains("missing data for column"),
                scan.rejections().toString());
        assertEquals(totals.rows, totals.values[0]);
    }

    @Test
    void albuquerqueWeatherAgreesWithDuckDb() throws SQLException {
        String file = "noaa_asos_weather/asos_ABQ_2017.csv";
        Source source = source(NONE, file, "null", "NA");
        assertEquals("timestamp with time zone", source.schema().type(14).toString());
        assertAgrees(source, file, ", nullstr='NA', types={'time_hour': 'TIMESTAMPTZ'}");
        assertEquals(8_784, totals(source).rows);
    }

    @Test
    void taxiTripsAgreeWithDuckDb() throws SQLException {
        for (String file : List.of("green_tripdata_2022-01", "green_tripdata_2023-12", "green_tripdata_2025-11")) {
            String path = "nyc_taxi/" + file + ".csv.gz";
            assertAgrees(source(NONE, path), path, "");
        }
    }

    @Test
    void smartPlugsAgreeWithDuckDb() throws SQLException {
        String file = "tracebase_smartplugs/tracebase_2012-01-20.csv.gz";
        Schema schema = FileScan.schema(
                "ts",
                DataType.TIMESTAMP,
                "device",
                DataType.TEXT,
                "appliance",
                DataType.TEXT,
                "power_1s_w",
                DataType.INTEGER,
                "power_8s_w",
                DataType.INTEGER);
        assertAgrees(source(schema, file), file, ", types={'device': 'VARCHAR'}");
        assertEquals(1_521_030, totals(source(schema, file)).rows);
        assertEquals(List.of(), scan.rejections());
    }
}
