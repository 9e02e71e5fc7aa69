package dev.millrace.server.pgwire;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.server.pgwire.RawClient.Message;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Hostile bytes inside messages that are well formed: each has its error, and the session goes on. */
class HostileBytesTest {
    private static final int TEXT_ARRAY = 1009;
    private static final int TEXT = 25;
    private static final int DATE = 1082;
    private static final int TIME = 1083;
    private static final int TIMESTAMP = 1114;
    private static final int INTERVAL = 1186;
    private static final int NUMERIC = 1700;
    private static final int JSONB = 3802;
    private static final byte[] NOT_UTF8 = {'a', (byte) 0xff, 'b'};
    private static final byte[] WITH_NUL = {'a', 0, 'b'};

    private TestServer server;
    private RawClient client;

    @BeforeEach
    void open() throws IOException {
        server = new TestServer();
        server.database().execute("CREATE TABLE t (a INT, b TEXT, j JSONB, d DATE)");
        client = new RawClient(server.port());
        client.send(RawClient.startup("user", "millrace"));
        client.next('Z');
    }

    @AfterEach
    void close() throws IOException {
        client.send(RawClient.query("SELECT 'here'"));
        assertEquals("here", client.next('D').column());
        client.close();
        server.close();
    }

    /** What comes up to the end of the statement: codes of errors, first columns of rows, tags. */
    private List<String> answers() throws IOException {
        List<String> answers = new ArrayList<>();
        for (Message next = client.next(); next.type() != 'Z'; next = client.next()) {
            switch (next.type()) {
                case 'E' -> answers.add(next.field('C'));
                case 'D' -> answers.add(next.column());
                case 'C' -> answers.add(new String(next.body(), 0, next.body().length - 1, StandardCharsets.UTF_8));
                default -> {}
            }
        }
        return answers;
    }

    private static byte[] hex(String digits) {
        return HexFormat.of().parseHex(digits.replace(" ", ""));
    }

    // ---- COPY ------------------------------------------------------------------------------------------------------

    private static byte[] binaryCopy(String rows) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.writeBytes("PGCOPY\n".getBytes(StandardCharsets.US_ASCII));
        all.writeBytes(hex("ff 0d 0a 00 00000000 00000000"));
        all.writeBytes(hex(rows));
        return all.toByteArray();
    }

    private List<String> copy(String what, byte[] data) throws IOException {
        client.send(
                RawClient.query("COPY " + what),
                RawClient.message('d', out -> out.write(data)),
                RawClient.message('c', out -> {}));
        return answers();
    }

    @Test
    void lengthsInABinaryCopyBeyondItsBytesAreErrors() throws IOException {
        String t = "t (a, b) FROM STDIN (FORMAT binary)";
        assertEquals(List.of("22P04"), copy(t, binaryCopy("0002 7fffffff")));
        assertEquals(List.of("22P04"), copy(t, binaryCopy("0002 7ffffffb")));
        assertEquals(List.of("22P04"), copy(t, binaryCopy("0002 00000004 00000001 7fffffff")));
        assertEquals(List.of("22P04"), copy(t, binaryCopy("0002 80000000")));
        assertEquals(List.of("22P03"), copy(t, binaryCopy("0002 00000003 000001 ffffffff")));
        assertEquals(List.of("22P03"), copy(t, binaryCopy("0002 00000005 0000000001 ffffffff")));
        assertEquals(List.of("22P04"), copy(t, binaryCopy("0000")));
        byte[] extension = binaryCopy("");
        extension[15] = 0x7f;
        assertEquals(List.of("22P04"), copy(t, extension));
        assertEquals(
                List.of("COPY 1"),
                copy(t, binaryCopy("0002 00000004 00000007 00000003 c3a978 ffff"))); // and a good one
    }

    /** Each piece of a row that does not end yet was a look at all pieces before it: with these, some 10^11 bytes. */
    @Test
    void aLongRowInSmallPiecesIsNotReadAgainForEachOfThem() throws IOException {
        byte[] piece = "x\n".repeat(32).getBytes(StandardCharsets.US_ASCII);
        byte[] message = RawClient.message('d', out -> out.write(piece));
        ByteArrayOutputStream some = new ByteArrayOutputStream();
        for (int i = 0; i < 1000; i++) {
            some.writeBytes(message);
        }
        client.send(RawClient.query("COPY t (b) FROM STDIN (FORMAT csv)"));
        client.send(RawClient.message('d', out -> out.writeByte('"')));
        for (int i = 0; i < 50; i++) {
            client.send(some.toByteArray());
        }
        client.send(RawClient.message('d', out -> out.writeByte('"')), RawClient.message('c', out -> {}));
        assertEquals(List.of("COPY 1"), answers());
        client.send(RawClient.query("SELECT length(b) FROM t"));
        assertEquals(List.of("3200000", "SELECT 1"), answers());
    }

    @Test
    void textsInACopyAreUtf8WithoutNul() throws IOException {
        assertEquals(List.of("22021"), copy("t (b) FROM STDIN", new byte[] {'a', (byte) 0xff, '\n'}));
        assertEquals(List.of("22021"), copy("t (b) FROM STDIN", new byte[] {'a', 0, '\n'}));
        assertEquals(List.of("22021"), copy("t (b) FROM STDIN", "a\\000\n".getBytes(StandardCharsets.US_ASCII)));
        assertEquals(List.of("22021"), copy("t (b) FROM STDIN", "\\xff\n".getBytes(StandardCharsets.US_ASCII)));
        assertEquals(List.of("22021"), copy("t (b) FROM STDIN (FORMAT csv)", new byte[] {'"', (byte) 0xc3, '"', '\n'}));
        assertEquals(List.of("22021"), copy("t (b) FROM STDIN (FORMAT binary)", binaryCopy("0001 00000002 61ff ffff")));
        assertEquals(List.of("22021"), copy("t (b) FROM STDIN (FORMAT binary)", binaryCopy("0001 00000002 6100 ffff")));
        assertEquals(List.of("22021"), copy("t (j) FROM STDIN", new byte[] {'"', (byte) 0xff, '"', '\n'}));
        assertEquals(List.of("22P05"), copy("t (j) FROM STDIN (FORMAT csv)", "\"\"\"\\u0000\"\"\"\n".getBytes()));
        assertEquals(
                List.of("22021"), copy("t (j) FROM STDIN (FORMAT binary)", binaryCopy("0001 00000004 0122ff22 ffff")));
        assertEquals(
                List.of("22P03"), copy("t (j) FROM STDIN (FORMAT binary)", binaryCopy("0001 00000003 023131 ffff")));
    }

    @Test
    void datesInABinaryCopyAreInTheirRange() throws IOException {
        String t = "t (d) FROM STDIN (FORMAT binary)";
        assertEquals(List.of("22008"), copy(t, binaryCopy("0001 00000004 7ffffffe ffff")));
        assertEquals(List.of("22008"), copy(t, binaryCopy("0001 00000004 80000001 ffff")));
        assertEquals(List.of("COPY 1"), copy(t, binaryCopy("0001 00000004 7fffffff ffff"))); // infinity
        assertEquals(List.of("COPY 1"), copy(t, binaryCopy("0001 00000004 80000000 ffff")));
    }

    // ---- parameters ------------------------------------------------------------------------------------------------

    private static void name(DataOutputStream out, byte... bytes) throws IOException {
        out.write(bytes);
        out.writeByte(0);
    }

    private List<String> select(String sql, int type, boolean binary, byte[] value) throws IOException {
        client.send(
                RawClient.message('P', out -> {
                    name(out);
                    RawClient.text(out, sql);
                    out.writeShort(type == 0 ? 0 : 1);
                    if (type != 0) {
                        out.writeInt(type);
                    }
                }),
                RawClient.message('B', out -> {
                    name(out);
                    name(out);
                    out.writeShort(1);
                    out.writeShort(binary ? 1 : 0);
                    out.writeShort(1);
                    out.writeInt(value.length);
                    out.write(value);
                    out.writeShort(0);
                }),
                RawClient.describe('P', ""),
                RawClient.execute("", 0),
                RawClient.sync());
        return answers();
    }

    @Test
    void anArrayOfNothingButNullsHasAnAnswer() throws IOException {
        assertEquals(List.of("{NULL}", "SELECT 1"), select("SELECT $1", TEXT_ARRAY, false, "{NULL}".getBytes()));
        assertEquals(List.of("{}", "SELECT 1"), select("SELECT $1", TEXT_ARRAY, false, "{}".getBytes()));
        assertEquals(
                List.of("{NULL,a}", "SELECT 1"),
                select(
                        "SELECT $1",
                        TEXT_ARRAY,
                        true,
                        hex("00000001 00000001 00000019 00000002 00000001 ffffffff" + "00000001 61")));
    }

    @Test
    void textsOfParametersAreUtf8WithoutNul() throws IOException {
        for (boolean binary : new boolean[] {false, true}) {
            for (byte[] wrong : List.of(NOT_UTF8, WITH_NUL, new byte[] {(byte) 0xed, (byte) 0xa0, (byte) 0x80})) {
                assertEquals(List.of("22021"), select("SELECT $1", 0, binary, wrong));
                assertEquals(List.of("22021"), select("SELECT $1", TEXT, binary, wrong));
                assertEquals(List.of("22021"), select("SELECT $1::text", 0, binary, wrong));
            }
        }
        assertEquals(List.of("22021"), select("SELECT $1", JSONB, true, hex("01 22 ff 22")));
        assertEquals(List.of("22021"), select("SELECT $1", JSONB, false, hex("22 ff 22")));
        assertEquals(
                List.of("22021"),
                select(
                        "SELECT $1",
                        TEXT_ARRAY,
                        true,
                        hex("00000001 00000000 00000019 00000001 00000001 00000002 61ff")));
        assertEquals(List.of("22021"), select("SELECT $1", TEXT_ARRAY, false, hex("7b ff 7d")));
        assertEquals(List.of("\u00e9", "SELECT 1"), select("SELECT $1", TEXT, true, hex("c3a9")));
    }

    @Test
    void binaryParametersAreHeldToTheirForms() throws IOException {
        String array = "00000001 00000000 00000019 ";
        assertEquals(List.of("22P03"), select("SELECT $1", TEXT_ARRAY, true, hex(array + "7fffffff 00000001")));
        assertEquals(List.of("22P03"), select("SELECT $1", TEXT_ARRAY, true, hex(array + "ffffffff 00000001")));
        assertEquals(
                List.of("22P03"), select("SELECT $1", TEXT_ARRAY, true, hex(array + "00000001 00000001 7fffffff")));
        assertEquals(
                List.of("22P03"), select("SELECT $1", TEXT_ARRAY, true, hex(array + "00000001 00000001 80000000")));
        assertEquals(List.of("22P03"), select("SELECT $1", TEXT_ARRAY, true, hex("ffffffff 00000000 00000019")));
        assertEquals(List.of("22008"), select("SELECT $1", DATE, true, hex("7ffffffe")));
        assertEquals(List.of("infinity", "SELECT 1"), select("SELECT $1", DATE, true, hex("7fffffff")));
        assertEquals(List.of("22008"), select("SELECT $1", TIME, true, hex("ffffffffffffffff")));
        assertEquals(List.of("22008"), select("SELECT $1", TIMESTAMP, true, hex("7ffffffffffffffe")));
        assertEquals(List.of("-infinity", "SELECT 1"), select("SELECT $1", TIMESTAMP, true, hex("8000000000000000")));
        assertEquals(List.of("22008"), select("SELECT $1", INTERVAL, true, hex("7fffffffffffffff 00000000 00000000")));
        assertEquals(
                List.of("1" + "0".repeat(4 * 0x7fff), "SELECT 1"),
                select("SELECT $1", NUMERIC, true, hex("0001 7fff 0000 0000 0001")));
        assertEquals(List.of("22P03"), select("SELECT $1", NUMERIC, true, hex("ffff 0000 0000 0000 0001")));
        assertEquals(List.of("22P03"), select("SELECT $1", NUMERIC, true, hex("0001 0000 0000 0000 ffff")));
        assertEquals(
                List.of("12.50", "SELECT 1"), select("SELECT $1", NUMERIC, true, hex("0002 0000 0000 0002 000c 1388")));
    }

    // ---- texts of statements ---------------------------------------------------------------------------------------

    @Test
    void aStatementThatIsNoUtf8IsAnErrorOfItsOwn() throws IOException {
        client.send(RawClient.message('Q', out -> name(out, hex("53454c45435420 27ff27"))));
        assertEquals(List.of("22021"), answers());
        client.send(RawClient.message('P', out -> {
            name(out);
            name(out, hex("53454c45435420 27ff27"));
            out.writeShort(0);
        }));
        client.send(RawClient.bind("", ""), RawClient.sync());
        assertEquals(List.of("22021"), answers());
    }

    @Test
    void anOperatorWithoutOperandsIsASyntaxError() throws IOException {
        for (String sql : List.of(
                "select ~",
                "select 1 ~",
                "select @",
                "select !~",
                "select |/",
                "select 1 ||",
                "select -",
                "select not")) {
            client.send(RawClient.query(sql));
            assertEquals(List.of("42601"), answers(), sql);
        }
    }
}
