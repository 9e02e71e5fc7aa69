package dev.millrace.server.pgwire;

import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * What a client that was let in sends: statements, prepared ones, portals and copies in any order, some of them damaged, and
 * some bytes that are no messages.
 */
final class HostileSession {
    private static final int MOST_MESSAGES = 40;
    private static final int HUGE = 1 << 20; // more than the server takes

    private static final String[] STATEMENTS = {
        "SELECT 1",
        "SELECT 1",
        "SELECT 2 AS two, 'three' AS three",
        "SELECT $1::int + 1",
        "SELECT $1, $2::text, $3::numeric, $4::timestamp, $5::bytea, $6::uuid, $7::boolean, $8::float8",
        "SELECT * FROM t WHERE id = $1",
        "SELECT * FROM t",
        "SELECT v, count(*) FROM t GROUP BY v",
        "SELECT * FROM counts",
        "INSERT INTO s VALUES (1, 'x')",
        "INSERT INTO s VALUES ($1, $2)",
        "INSERT INTO t VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING id",
        "UPDATE t SET v = 'y' WHERE id = 1",
        "DELETE FROM t WHERE id = $1",
        "COPY s FROM STDIN",
        "COPY s FROM STDIN (FORMAT csv, HEADER)",
        "COPY t FROM STDIN (FORMAT binary)",
        "COPY t TO STDOUT",
        "COPY (SELECT * FROM t) TO STDOUT (FORMAT binary)",
        "COPY (SELECT 1) TO STDOUT (FORMAT csv)",
        "BEGIN",
        "BEGIN READ ONLY",
        "COMMIT",
        "ROLLBACK",
        "SAVEPOINT a",
        "ROLLBACK TO a",
        "RELEASE a",
        "DECLARE c CURSOR FOR SELECT * FROM t",
        "DECLARE h CURSOR WITH HOLD FOR SELECT * FROM t",
        "DECLARE d CURSOR FOR SUBSCRIBE TO q WITH (PROGRESS)",
        "FETCH 2 FROM c",
        "FETCH 10 FROM d WITH (timeout = '1ms')",
        "MOVE 1 FROM h",
        "CLOSE c",
        "CLOSE ALL",
        "SUBSCRIBE TO counts WITH (SNAPSHOT)",
        "COPY (SUBSCRIBE TO q) TO STDOUT",
        "PREPARE p1 AS SELECT $1::int",
        "EXECUTE p1(1)",
        "DEALLOCATE p1",
        "DEALLOCATE ALL",
        "DISCARD ALL",
        "SHOW server_version",
        "SHOW ALL",
        "SET application_name = 'x'",
        "SET statement_timeout = '20ms'",
        "RESET ALL",
        "SELECT current_user, current_setting('application_name')",
        "SELECT relname FROM pg_catalog.pg_class",
        "EXPLAIN SELECT count(*) FROM t",
        "SELECT 1; SELECT 2; INSERT INTO s VALUES (2, 'y')",
        "INSERT INTO s VALUES (3, 'z'); SELECT nothing",
        "SELECT 1 / 0",
        "SELECT nothing",
        "SELECT * FROM kept",
        "COPY kept TO STDOUT",
        "SUBSCRIBE TO kept WITH (SNAPSHOT)",
        "INSERT INTO kept VALUES (1, 'forged')",
        "DROP TABLE kept",
        "CREATE TABLE mine (a INTEGER)",
        "ALTER ROLE fuzz SUPERUSER",
        "SET ROLE millrace",
        "",
        " ; ; ",
        "-- nothing",
        "SELECT 'unfinished",
        "SELECT $65536",
        "SELECT \"\u00e4\", '\ud83d\ude00'",
    };
    private static final String[] NAMES = {"", "", "", "a", "b", "c", "d", "\u00e4 \"'"};
    private static final String[] COPIED = {
        "1\tx\n",
        "2\t\\N\n3\t",
        "zero\tx\n",
        "\\.\n",
        "1,\"x\n\",\n",
        "id,v\n4,5\n",
        "\u0000\u0001",
        "PGCOPY\n\u00ff\r\n\u0000",
        "1\n1\t2\t3\n"
    };

    private final Random random;
    private final List<byte[]> messages = new ArrayList<>();
    private boolean damaged; // the connection need not survive
    private boolean broken; // it may be in the middle of a message when all was sent

    HostileSession(long seed) {
        random = new Random(seed);
        int count = 1 + random.nextInt(MOST_MESSAGES);
        for (int i = 0; i < count; i++) {
            add(random.nextInt(100) < 4 ? damaged(message()) : message());
        }
        if (random.nextInt(10) == 0) {
            Collections.shuffle(messages, random);
        }
        if (random.nextInt(25) == 0) {
            end();
        }
    }

    List<byte[]> messages() {
        return messages;
    }

    /** Whether all that is sent can be understood, so that the session must go on. */
    boolean survives() {
        return !damaged && !broken;
    }

    /** Whether the last message may not be whole: nothing can be asked any more. */
    boolean isBroken() {
        return broken;
    }

    private void add(byte[] message) {
        messages.add(message);
    }

    private <T> T one(T[] of) {
        return of[random.nextInt(of.length)];
    }

    private String sql() {
        return switch (random.nextInt(300)) {
            case 0 -> "SELECT " + "(".repeat(5_000) + "1" + ")".repeat(5_000);
            case 1 -> "SELECT '" + "x".repeat(random.nextInt(100_000)) + "'";
            case 2 -> "SELECT " + "1 + ".repeat(2_000) + "1";
            case 3, 4, 5, 6, 7 -> {
                StringBuilder shaken = new StringBuilder(one(STATEMENTS));
                for (int i = 0; i < 3 && !shaken.isEmpty(); i++) {
                    shaken.setCharAt(random.nextInt(shaken.length()), (char) (1 + random.nextInt(300)));
                }
                yield shaken.toString();
            }
            default -> one(STATEMENTS);
        };
    }

    private byte[] message() {
        return switch (random.nextInt(20)) {
            case 0, 1, 2 -> RawClient.query(sql());
            case 3, 4, 5 -> parse();
            case 6, 7, 8 -> bind();
            case 9, 10 -> RawClient.describe(random.nextBoolean() ? 'P' : 'S', one(NAMES));
            case 11, 12, 13 ->
                RawClient.execute(one(NAMES), random.nextInt(3) == 0 ? random.nextInt() : random.nextInt(4));
            case 14, 15 -> RawClient.sync();
            case 16 ->
                RawClient.message('C', out -> {
                    out.writeByte(random.nextBoolean() ? 'P' : 'S');
                    RawClient.text(out, one(NAMES));
                });
            case 17 -> RawClient.message('H', out -> {});
            case 18 ->
                RawClient.message('d', out -> {
                    if (random.nextBoolean()) {
                        RawClient.text(out, one(COPIED));
                    } else {
                        junk(out, 200);
                    }
                });
            default ->
                random.nextBoolean()
                        ? RawClient.message('c', out -> {})
                        : RawClient.message('f', out -> RawClient.text(out, "enough"));
        };
    }

    private byte[] parse() {
        String sql = sql();
        return RawClient.message('P', out -> {
            RawClient.text(out, one(NAMES));
            RawClient.text(out, sql);
            int types = random.nextInt(3) == 0 ? random.nextInt(9) : 0;
            out.writeShort(types);
            for (int i = 0; i < types; i++) {
                out.writeInt(random.nextInt(4) == 0 ? random.nextInt() : 16 + random.nextInt(3000));
            }
        });
    }

    private byte[] bind() {
        return RawClient.message('B', out -> {
            RawClient.text(out, one(NAMES));
            RawClient.text(out, one(NAMES));
            formats(out);
            int values = random.nextInt(4) == 0 ? random.nextInt(9) : random.nextInt(3);
            out.writeShort(values);
            for (int i = 0; i < values; i++) {
                switch (random.nextInt(3)) {
                    case 0 -> out.writeInt(-1);
                    case 1 -> {
                        byte[] text = Integer.toString(random.nextInt(100)).getBytes();
                        out.writeInt(text.length);
                        out.write(text);
                    }
                    default -> {
                        byte[] junk = new byte[random.nextInt(20)];
                        random.nextBytes(junk);
                        out.writeInt(junk.length);
                        out.write(junk);
                    }
                }
            }
            formats(out);
        });
    }

    private void formats(DataOutputStream out) throws IOException {
        int count = random.nextInt(4) == 0 ? random.nextInt(9) : random.nextInt(2);
        out.writeShort(count);
        for (int i = 0; i < count; i++) {
            out.writeShort(random.nextInt(10) == 0 ? random.nextInt() : random.nextInt(2));
        }
    }

    private void junk(DataOutputStream out, int most) throws IOException {
        byte[] bytes = new byte[random.nextInt(most)];
        random.nextBytes(bytes);
        out.write(bytes);
    }

    /** The same message with a length that is true, but other bytes: cut, longer, or changed. */
    private byte[] damaged(byte[] message) {
        damaged = true;
        return RawClient.bytes(out -> {
            byte[] body = new byte[message.length - 5];
            System.arraycopy(message, 5, body, 0, body.length);
            int length = body.length;
            switch (random.nextInt(4)) {
                case 0 -> length = random.nextInt(length + 1);
                case 1 -> length += random.nextInt(20);
                default -> {
                    for (int i = 0; i < 4 && body.length > 0; i++) {
                        body[random.nextInt(body.length)] = (byte) random.nextInt();
                    }
                }
            }
            out.writeByte(random.nextInt(4) == 0 ? random.nextInt(256) : message[0]);
            out.writeInt(4 + length);
            out.write(java.util.Arrays.copyOf(body, length));
        });
    }

    /** Bytes after which nothing can be understood any more. */
    private void end() {
        broken = true;
        byte[] message = message();
        add(
                switch (random.nextInt(5)) {
                    case 0 -> java.util.Arrays.copyOf(message, random.nextInt(message.length));
                    case 1 -> RawClient.bytes(out -> junk(out, 500));
                    case 2 ->
                        RawClient.bytes(
                                out -> { // a length that is not borne out
                                    out.writeByte(message[0]);
                                    out.writeInt(random.nextBoolean() ? Integer.MAX_VALUE : random.nextInt());
                                    junk(out, 100);
                                });
                    case 3 ->
                        RawClient.bytes(
                                out -> { // too long
                                    out.writeByte('Q');
                                    out.writeInt(HUGE + 10);
                                    out.write(new byte[1 << 12]);
                                });
                    default -> RawClient.message('X', out -> {});
                });
    }
}
