package dev.millrace.server.bytes;

import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** Valid Parquet files, of all types, packings and encodings that DuckDB writes, with the places of what their metadata says. */
final class ParquetLayouts {
    private static final List<String> OPTIONS = List.of(
            "COMPRESSION uncompressed, PARQUET_VERSION V1",
            "COMPRESSION uncompressed, PARQUET_VERSION V2",
            "COMPRESSION zstd, PARQUET_VERSION V2",
            "COMPRESSION snappy, PARQUET_VERSION V1",
            "COMPRESSION gzip, PARQUET_VERSION V1",
            "COMPRESSION lz4_raw, PARQUET_VERSION V2");
    private static final String ROWS =
            "SELECT i % 2 = 0 AS a, i::SMALLINT AS b, i AS c, i * 1000003 AS d, i / 3.0::FLOAT AS e, i / 7.0 AS f,"
                    + " i::DECIMAL(20,4) AS g, 'text ' || (i % 4) AS h, repeat('pre', (i % 5)::INT) || i AS i, md5(i::VARCHAR)::BLOB AS k,"
                    + " DATE '2024-01-01' + i::INT AS l, TIME '00:00' AS m, TIMESTAMP '2024-01-01' + to_hours(i) AS n,"
                    + " INTERVAL (i) SECOND AS p, uuid() AS q, [i, NULL] AS s, {'x': i, 'y': [i::VARCHAR]} AS t,"
                    + " CASE WHEN i % 3 = 0 THEN i END AS u FROM range(COUNT) r(i)";

    private ParquetLayouts() {}

    /** @param scratch a file that is written and left */
    static List<Layout> all(Path scratch) throws Exception {
        List<Layout> layouts = new ArrayList<>();
        try (Connection connection = DriverManager.getConnection("jdbc:duckdb:");
                Statement statement = connection.createStatement()) {
            for (String options : OPTIONS) {
                for (int rows : new int[] {1, 12, 300}) {
                    statement.execute("COPY (" + ROWS.replace("COUNT", Integer.toString(rows)) + ") TO '" + scratch
                            + "' (FORMAT parquet, " + options + ")");
                    layouts.add(layout(Files.readAllBytes(scratch)));
                }
            }
        }
        return layouts;
    }

    /** Of the metadata each byte may be a length, a type or a count; of pages the first ones are their headers. */
    private static Layout layout(byte[] bytes) {
        Layout layout = new Layout(bytes);
        int length = (bytes[bytes.length - 8] & 0xff) | (bytes[bytes.length - 7] & 0xff) << 8;
        for (int at = Math.max(4, bytes.length - 8 - length); at < bytes.length - 8; at++) {
            layout.number(at, 1, ByteOrder.LITTLE_ENDIAN);
        }
        for (int at = 4; at < bytes.length - 8 - length; at += 3) {
            layout.number(at, at % 2 == 0 ? 1 : 4, ByteOrder.LITTLE_ENDIAN);
        }
        return layout.number(bytes.length - 8, 4, ByteOrder.LITTLE_ENDIAN);
    }
}
