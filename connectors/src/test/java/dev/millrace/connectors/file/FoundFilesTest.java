package dev.millrace.connectors.file;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.batch.Batch;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SourceReader;
import dev.millrace.connectors.directory.DuckFiles;
import dev.millrace.error.MillraceException;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Folders of files as they are found: what is found out about them without being told, and the rows that come of it. */
class FoundFilesTest {
    private static final Schema NONE = new Schema(List.of());

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    @TempDir
    Path folder;

    private void file(String name, String text) throws IOException {
        file(name, text, StandardCharsets.UTF_8);
    }

    private void file(String name, String text, Charset charset) throws IOException {
        Files.write(folder.resolve(name), text.getBytes(charset));
    }

    private Source found(String pattern, String... options) {
        List<String> all =
                new ArrayList<>(List.of("path", folder.resolve(pattern).toString()));
        all.addAll(List.of(options));
        return FileScan.source(NONE, all.toArray(String[]::new));
    }

    private List<String> rows(Source source) {
        FileScan scan = new FileScan(memory.allocator());
        List<String> rows = scan.rows(source);
        assertEquals(List.of(), scan.rejections());
        return rows;
    }

    private static String assumed(Source source) {
        return source.assumptions().options().toString();
    }

    @Test
    void aEuropeanLoggersFileNeedsNoOptions() throws IOException {
        file(
                "a.csv",
                "Datum;Zeit;Temperatur;Zähler;Ort\n"
                        + "01.02.2020;18.00.00;2,5;1.234.567,5;Köln\n"
                        + "02.02.2020;19.00.00;3;12,5;Wien\n"
                        + "13.02.2020;20.00.00;n/a;0,5;\n",
                StandardCharsets.ISO_8859_1);
        Source source = found("*.csv");
        assertEquals(
                "datum date, zeit time without time zone, temperatur double precision, zähler double precision, ort text",
                source.schema().toString());
        assertEquals(
                "{encoding=latin-1, delimiter=;, header=true, decimal_comma=true, thousands=., null=|n/a,"
                        + " date_format=DD.MM.YYYY, time_format=HH24.MI.SS}",
                assumed(source));
        assertEquals(
                List.of(
                        "2020-02-01|18:00:00|2.5|1234567.5|Köln",
                        "2020-02-02|19:00:00|3|12.5|Wien",
                        "2020-02-13|20:00:00|~|0.5|~"),
                rows(source));
    }

    @Test
    void whatIsSaidIsNotGuessed() throws IOException {
        file("a.csv", "a;b\n1;01.02.2020\n2;?\n");
        Source source = found("a.csv", "delimiter", ",");
        assertEquals("a;b text", source.schema().toString());
        source = found("a.csv", "date_format", "MM.DD.YYYY", "null", "?");
        assertEquals("a bigint, b date", source.schema().toString());
        assertEquals(List.of("1|2020-01-02", "2|~"), rows(source));
        source = found("a.csv", "header", "false", "null", "");
        assertEquals("column1 text, column2 text", source.schema().toString());
        assertEquals(List.of("a|b", "1|01.02.2020", "2|?"), rows(source));
    }

    /** A line without an end, or another delimiter than was meant. */
    @Test
    void aHeaderMayBeWideButNotWithoutEnd() throws IOException {
        file("same.csv", "v,".repeat(4_999) + "v\n" + "1,".repeat(4_999) + "1\n");
        Source source = found("same.csv");
        assertEquals(5_000, source.schema().size());
        assertEquals("v_4999", source.schema().field(4_999).name());
        assertEquals(1, rows(source).size());
        file("wide.csv", "v,".repeat(100_000) + "v\n" + "1,".repeat(100_000) + "1\n");
        MillraceException e = assertThrows(MillraceException.class, () -> found("wide.csv"));
        assertEquals("54000", e.sqlState().code());
        assertEquals("the files have 100001 columns; at most 10000 are guessed", e.getMessage());
        file(
                "keys.json",
                IntStream.range(0, 10_001)
                        .mapToObj(i -> "{\"k" + i + "\": 1}\n")
                        .collect(Collectors.joining()));
        e = assertThrows(MillraceException.class, () -> found("keys.json", "format", "json"));
        assertEquals("54000", e.sqlState().code());
    }

    @Test
    void everyDelimiterIsFoundWhateverElseIsInTheLines() throws IOException {
        file("a", "at,v\n2020-01-01 10:00:00,1\n2020-01-01 10:00:01,2\n");
        file("b", "at;v\n01.01.2020;1,5\n02.01.2020;2,5\n");
        file("c", "at\tv\n2020-01-01 10:00\tx y\n2020-01-01 10:01\tz y\n");
        file("d", "1163438041250 20 21,21\n1163438041468 10 20,07\n");
        file("e", "id|text\n1|a, b; c\n2|d, e; f\n");
        file("f", "'id','text'\n'1','a, b'\n'2','c'\n");
        file("g", "one thing\nand another one\nthen a third\n");
        assertEquals(
                List.of(
                        "at timestamp without time zone, v bigint",
                        "at date, v double precision",
                        "at timestamp without time zone, v text",
                        "column1 bigint, column2 bigint, column3 double precision",
                        "id bigint, text text",
                        "id bigint, text text",
                        "one thing text"),
                "abcdefg"
                        .chars()
                        .mapToObj(name -> found((char) name + "").schema().toString())
                        .toList());
        assertEquals(List.of("1|a, b", "2|c"), rows(found("f")));
    }

    @Test
    void pointsBetweenGroupsOfDigitsAreNoDecimalPoints() throws IOException {
        file("groups.csv", "a;b\n1.234;x\n1.234,5;y\n12,5;z\n");
        assertEquals(List.of("1234|x", "1234.5|y", "12.5|z"), rows(found("groups.csv")));
        file("point.csv", "a;b\n1.234,5;1.5\n12,5;2.5\n");
        Source source = found("point.csv");
        assertEquals("a text, b double precision", source.schema().toString());
        assertEquals(List.of("1.234,5|1.5", "12,5|2.5"), rows(source));
        file("english.csv", "a,b\n\"1,234,567.5\",1.5\n\"1,234\",2\n");
        assertEquals(List.of("1234567.5|1.5", "1234|2"), rows(found("english.csv")));
    }

    @Test
    void headersThatDifferAreOneRelation() throws IOException {
        file("1.csv", "id,temp,note\n1,20,a\n2,21,b\n");
        file("2.csv", "Temp,id,extra\n20.5,3,x\n");
        file("3.csv", "id\n4\n");
        Source source = found("*.csv");
        assertEquals(
                "id bigint, temp double precision, note text, extra text",
                source.schema().toString());
        assertEquals("{header=true, union_by_name=true}", assumed(source));
        assertEquals(List.of("1|20|a|~", "2|21|b|~", "3|20.5|~|x", "4|~|~|~"), rows(source));
        file("4.csv", "who,what\n1,2\n");
        assertEquals(
                "42703",
                assertThrows(MillraceException.class, () -> rows(found("*.csv", "union_by_name", "false")))
                        .sqlState()
                        .code());
    }

    @Test
    void aReaderGoesOnInAFileThatLacksAColumn() throws IOException {
        String lines = IntStream.range(0, 3000).mapToObj(i -> "\n" + i).collect(Collectors.joining());
        file("1.csv", "a,b\n1,2");
        file("2.csv", "b" + lines);
        Source source = found("*.csv");
        List<String> all = rows(source);
        assertEquals(all, withRestarts(source));
    }

    /** Rows of a reader that is closed after each batch, and goes on where it was. */
    private List<String> withRestarts(Source source) {
        FileScan scan = new FileScan(memory.allocator()).batchRows(100);
        ScanRequest request = new ScanRequest(FileScan.allColumns(source), List.of(), 1);
        List<String> rows = new ArrayList<>();
        SourceReader reader = source.open(request, scan).get(0);
        while (true) {
            Optional<Batch> polled = reader.poll();
            if (polled.isEmpty() && reader.isFinished()) {
                reader.close();
                return rows;
            }
            try (Batch batch = polled.orElseThrow()) {
                IntStream.range(0, batch.rowCount()).forEach(row -> rows.add(FileScan.text(batch, row)));
            }
            SourcePosition position = reader.position().orElseThrow();
            reader.close();
            reader = source.reopen(request, List.of(position), scan).get(0);
        }
    }

    @Test
    void aMarkSaysThatAFileIsUtf16() throws IOException {
        StringBuilder text = new StringBuilder("id;text\n");
        for (int i = 0; i < 3000; i++) {
            text.append(i).append(";").append("äß€\ud83d\ude00".repeat(i % 7)).append('\n');
        }
        file("8.csv", text.toString());
        List<String> rows = rows(found("8.csv"));
        file("le.csv", "\ufeff" + text, StandardCharsets.UTF_16LE);
        file("be.csv", "\ufeff" + text, StandardCharsets.UTF_16BE);
        for (String name : new String[] {"le.csv", "be.csv"}) {
            Source source = found(name);
            assertEquals("id bigint, text text", source.schema().toString());
            assertEquals(rows, rows(source));
            assertEquals(rows, withRestarts(source));
        }
        file("none.csv", text.toString(), StandardCharsets.UTF_16LE);
        assertEquals(rows, rows(found("none.csv", "encoding", "utf-16le")));
    }

    @Test
    void bytesThatAreNoUtf8AreOfWindowsOrLatin1() throws IOException {
        file("w.csv", "a;b\n1;5 € – “x”\n2;é\n", Charset.forName("windows-1252"));
        Source source = found("w.csv");
        assertEquals("{encoding=windows-1252, delimiter=;, header=true}", assumed(source));
        assertEquals(List.of("1|5 € – “x”", "2|é"), rows(source));
        assertEquals(rows(source), withRestarts(source));
        file("u.csv", "a;b\n3;ü\n");
        Source both = found("*.csv");
        assertEquals("{delimiter=;, header=true}", assumed(both));
        assertEquals(1, both.assumptions().remarks().size());
    }

    @Test
    void orderOfDayAndMonthIsDecidedOverAllFiles() throws IOException {
        file("1.csv", "d,e\n01/02/2020,03/04/2021 10:00\n02/02/2020,\n");
        file("2.csv", "d,e\n25/02/2020,05/06/2021 11:30\n");
        Source source = found("*.csv");
        assertEquals("d date, e timestamp without time zone", source.schema().toString());
        assertEquals(List.of(), source.assumptions().remarks());
        assertEquals(
                List.of("2020-02-01|2021-04-03 10:00:00", "2020-02-02|~", "2020-02-25|2021-06-05 11:30:00"),
                rows(source));
    }

    @Test
    void anAmbiguousOrderIsDecidedByTheRowsOrByCustomAndToldOf() throws IOException {
        file("rows.csv", "d\n10/03/2020\n11/03/2020\n12/03/2020\n01/04/2020\n02/04/2020\n");
        Source byRows = found("rows.csv");
        assertEquals("{header=true, date_format=DD/MM/YYYY}", assumed(byRows));
        file("one.csv", "d\n10/03/2020\n");
        assertEquals("{header=true, date_format=MM/DD/YYYY}", assumed(found("one.csv")));
        file("semicolon.csv", "d;e\n10/03/2020;1\n");
        assertEquals("{delimiter=;, header=true, date_format=DD/MM/YYYY}", assumed(found("semicolon.csv")));
        assertEquals(
                List.of(
                        "the dates of column \"d\" may begin with the day or the month: taken is DD/MM/YYYY, in which rows that"
                                + " follow each other go forward, another is said by date_format or timestamp_format"),
                byRows.assumptions().remarks());
    }

    @Test
    void severalFormatsOfOneColumnAreAllTaken() throws IOException {
        file(
                "1.csv",
                "t,n\n1/1/07 0:00,a\n31.12.2007 23:59:59,b\n2008-01-01 10:00:00,c\n03-Feb-2008,d\n2009/01/02T10:00:00Z,e\n");
        Source source = found("1.csv");
        assertEquals("t text, n text", source.schema().toString());
        file("2.csv", "t,n\n1/1/07 0:00,a\n31.12.2007 23:59:59,b\n2008-01-01 10:00:00,c\n03-Feb-2008,d\n");
        source = found("2.csv");
        assertEquals("t timestamp without time zone, n text", source.schema().toString());
        assertEquals(
                List.of(
                        "2007-01-01 00:00:00|a",
                        "2007-12-31 23:59:59|b",
                        "2008-01-01 10:00:00|c",
                        "2008-02-03 00:00:00|d"),
                rows(source));
    }

    @Test
    void wordsAndNumbersThatStandForNothingAreNull() throws IOException {
        StringBuilder text = new StringBuilder("t,a,b,c,d\n");
        for (int i = 0; i < 40; i++) {
            String a = i % 10 == 0 ? "-999.0" : "" + (20 + i % 5);
            String b = i % 10 == 1 ? "NA" : "" + i;
            String c = i % 10 == 2 ? "-1" : "" + i;
            String d = i % 10 == 3 ? "9999.9" : "10" + i % 10 + ".5";
            text.append(i).append(',').append(String.join(",", a, b, c, d)).append('\n');
        }
        file("a.csv", text.toString());
        Source source = found("a.csv");
        assertEquals("{header=true, null=|NA|-999.0|9999.9}", assumed(source));
        List<String> rows = rows(source);
        assertEquals("0|~|0|0|100.5", rows.get(0));
        assertEquals("1|21|~|1|101.5", rows.get(1));
        assertEquals("2|22|2|-1|102.5", rows.get(2));
        assertEquals("3|23|3|3|~", rows.get(3));
        assertEquals("0|-999|0|0|100.5", rows(found("a.csv", "null", "NA")).get(0));
    }

    @Test
    void aWordThatMayMeanSomethingIsToldOf() throws IOException {
        file("a.csv", "v\n" + "1.5\n".repeat(30) + "trace\n");
        Source source = found("a.csv");
        assertEquals("v text", source.schema().toString());
        assertEquals(
                List.of("column \"v\" is text because of values such as \"trace\"; null = 'trace' would leave numbers"),
                source.assumptions().remarks());
        assertEquals(
                "v double precision", found("a.csv", "null", "trace").schema().toString());
    }

    @Test
    void whatPrecedesTheHeaderIsPassedOver() throws IOException {
        file("same1.csv", "Station 7\nowner: x\nt,v\n1,2\n3,4\n");
        file("same2.csv", "Station 8\nowner: y\nt,v\n5,6\n");
        Source same = found("same*.csv");
        assertEquals("{skip_lines=2, header=true}", assumed(same));
        assertEquals(List.of("1|2", "3|4", "5|6"), rows(same));
        file("other.csv", "Station 9\nt,v\n7,8\n");
        Source all = found("*.csv");
        assertEquals("{skip_lines=auto, header=true}", assumed(all));
        assertEquals(List.of("7|8", "1|2", "3|4", "5|6"), rows(all));
        file("comment.log", "# a, b, \"c\nt,v\n1,2\n# gap\n3,4\n");
        Source comments = found("comment.log");
        assertEquals("{comment=#, header=true}", assumed(comments));
        assertEquals(List.of("1|2", "3|4"), rows(comments));
        file("trailed.txt", "t;v\n1;2;\n3;4;\n");
        Source trailed = found("trailed.txt");
        assertEquals("{delimiter=;, header=true, ignore_extra=true}", assumed(trailed));
        assertEquals(List.of("1|2", "3|4"), rows(trailed));
    }

    @Test
    void linesOfUnitsBehindTheHeaderAreNoRecords() throws IOException {
        String logger = "\"TOA5\",\"CR1000\",\"7\"\n"
                + "\"TIMESTAMP\",\"RECORD\",\"AirT\",\"Site\"\n\"TS\",\"RN\",\"Deg C\",\"\"\n\"\",\"\",\"Avg\",\"Smp\"\n";
        StringBuilder records = new StringBuilder();
        for (int i = 0; i < 9; i++) {
            records.append("\"2020-01-01 00:0" + i + ":00\"," + i + "," + (i == 0 ? "\"NAN\"" : i + ".5") + ",\"a\"\n");
        }
        file("1.dat", logger + records);
        file("2.dat", logger + records);
        Source source = found("*.dat");
        assertEquals("{skip_lines=1, header=true, skip_after_header=2}", assumed(source));
        assertEquals(
                "timestamp timestamp without time zone, record bigint, airt double precision, site text",
                source.schema().toString());
        List<String> rows = rows(source);
        assertEquals(18, rows.size());
        assertEquals("2020-01-01 00:01:00|1|1.5|a", rows.get(1));
        file("text.csv", "name,v\nfirst,\nsecond,n/a\nthird,3\nfourth,4\n");
        assertEquals(4, rows(found("text.csv")).size());
    }

    @Test
    void typesAreWideEnoughForAllFilesAndForTheEndsOfLargeOnes() throws IOException {
        file("1.csv", "a,b,c\n1,2,12345678901234567890\n");
        file("2.csv", "a,b,c\n1.5,x,1\n");
        Source two = found("*.csv");
        assertEquals("a double precision, b text, c numeric(38,0)", two.schema().toString());
        assertEquals(List.of("1|2|12345678901234567890", "1.5|x|1"), rows(two));
        file("large.csv", "a,b\n" + ("1," + "x".repeat(500) + "\n").repeat(10_000) + "2.5,\n");
        assertEquals("a double precision, b text", found("large.csv").schema().toString());
    }

    @Test
    void aFirstRecordOfValuesIsNoHeader() throws IOException {
        file("none.csv", "1,a\n2,b\n");
        assertEquals("column1 bigint, column2 text", found("none.csv").schema().toString());
        file("nulls.csv", "NA,1\n3,2\n4,NA\n");
        assertEquals(
                "column1 bigint, column2 bigint", found("nulls.csv").schema().toString());
        file("mixed1.log", "t,v\n1,2\n");
        file("mixed2.log", "3,4\n");
        Source mixed = found("mixed*.log");
        assertEquals("{}", assumed(mixed));
        assertEquals(List.of("1|2", "3|4"), rows(mixed));
    }

    @Test
    void aFileThatCannotBeReadHindersNoOther() throws IOException {
        file("a.csv.gz", "no gzip at all");
        file("b.csv", "t,v\n1,2\n");
        file("c.csv", "");
        assertEquals("t bigint, v bigint", found("*").schema().toString());
        assertThrows(MillraceException.class, () -> found("a.csv.gz"));
        assertEquals(List.of("1|2"), rows(found("{b,c}.csv")));
    }

    @Test
    void recordsThatEndEarlyTakeNoMemoryOfOthers() throws IOException {
        file("a.csv", "a,b\n" + ("x\n".repeat(9) + "y," + "z".repeat(9) + "\n").repeat(2000));
        List<String> rows = rows(found("a.csv", "null_padding", "true", "delimiter", ","));
        assertEquals(20_000, rows.size());
        assertEquals("y|zzzzzzzzz", rows.get(19_999));
        assertEquals("x|~", rows.get(19_998));
    }

    @Test
    void realFoldersGiveDuckDbsRows() {
        String weather = FileScan.data("noaa_asos_weather") + "/*.csv";
        String air = FileScan.data("uci_air_quality/AirQualityUCI.csv").toString();
        Source found = FileScan.source(NONE, "path", weather);
        assertEquals(
                DuckFiles.rows(
                        "SELECT count(*), count(wind_gust), sum(hour)::BIGINT, round(sum(temp), 3), count(origin),"
                                + " max(time_hour)::VARCHAR FROM read_csv('" + weather
                                + "', union_by_name = true, nullstr = ['', 'NA'])"),
                List.of(totals(found, "wind_gust", "hour", "temp", "origin")));
        assertEquals(
                DuckFiles.rows("SELECT count(*), count(\"CO(GT)\"), sum(\"PT08.S1(CO)\")::BIGINT, round(sum(T), 3),"
                        + " count(Date), max(Date)::VARCHAR FROM read_csv('" + air
                        + "', delim = ';', decimal_separator = ',', dateformat = '%d/%m/%Y', nullstr = ['', '-200', '-200,0'],"
                        + " types = {'Time': 'VARCHAR', 'Date': 'DATE'})"),
                List.of(totals(FileScan.source(NONE, "path", air), "co(gt)", "pt08.s1(co)", "t", "date")));
    }

    private String totals(Source source, String counted, String summed, String rounded, String present) {
        List<Integer> columns = List.of(counted, summed, rounded, present).stream()
                .map(source.schema()::indexOf)
                .collect(Collectors.toCollection(ArrayList::new));
        String time = source.schema().indexOf("time_hour") < 0 ? "date" : "time_hour";
        columns.add(source.schema().indexOf(time));
        List<String[]> rows = new FileScan(memory.allocator())
                .rows(source, columns, 2).stream().map(row -> row.split("\\|")).toList();
        return String.join(
                "|",
                String.valueOf(rows.size()),
                String.valueOf(rows.stream().filter(row -> !row[0].equals("~")).count()),
                String.valueOf(rows.stream()
                        .filter(row -> !row[1].equals("~"))
                        .mapToLong(row -> (long) Double.parseDouble(row[1]))
                        .sum()),
                String.valueOf(Math.round(1000
                                * rows.stream()
                                        .filter(row -> !row[2].equals("~"))
                                        .mapToDouble(row -> Double.parseDouble(row[2]))
                                        .sum())
                        / 1000.0),
                String.valueOf(rows.stream().filter(row -> !row[3].equals("~")).count()),
                rows.stream()
                        .map(row -> row[4])
                        .filter(value -> !value.equals("~"))
                        .max(String::compareTo)
                        .orElseThrow());
    }
}
