package dev.millrace.server.pgwire;

import dev.millrace.server.pgwire.RawClient.Message;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * What a client does that does not know the password: startup packets, requests and proofs, right ones, wrong ones, replayed
 * ones and none, in any order, and questions without an answer to who it is.
 */
final class HostileLogin {
    private static final String[] ROLES = {"fuzz", "fuzz", "millrace", "nobody", "", "fuzz'; --", "\u00e4"};
    private static final String[] MECHANISMS = {
        "SCRAM-SHA-256", "SCRAM-SHA-256", "SCRAM-SHA-256-PLUS", "PLAIN", "", "SCRAM-SHA-1"
    };

    private final Random random;
    private final List<byte[]> messages = new ArrayList<>();

    /** @param replayed proofs that were good once, on connections of others */
    HostileLogin(long seed, List<String> replayed) {
        random = new Random(seed);
        int count = 1 + random.nextInt(6);
        for (int i = 0; i < count; i++) {
            messages.add(
                    switch (random.nextInt(12)) {
                        case 0 -> request(80877103); // TLS
                        case 1 -> request(80877104); // GSS
                        case 2 ->
                            RawClient.bytes(
                                    out -> { // cancel
                                        out.writeInt(16);
                                        out.writeInt(80877102);
                                        out.writeInt(random.nextInt(20));
                                        out.writeInt(random.nextInt());
                                    });
                        case 3, 4, 5 -> startup();
                        case 6, 7 -> initial();
                        case 8 -> proof(replayed);
                        case 9 ->
                            new HostileSession(random.nextLong()).messages().get(0);
                        case 10 -> RawClient.query("SELECT * FROM kept");
                        default -> {
                            byte[] junk = new byte[random.nextInt(400)];
                            random.nextBytes(junk);
                            yield junk;
                        }
                    });
        }
        if (random.nextInt(3) > 0) {
            messages.add(0, startup());
        }
        if (random.nextInt(10) == 0) {
            Collections.shuffle(messages, random);
        }
    }

    List<byte[]> messages() {
        return messages;
    }

    private static byte[] request(int code) {
        return RawClient.bytes(out -> {
            out.writeInt(8);
            out.writeInt(code);
        });
    }

    private byte[] startup() {
        String role = ROLES[random.nextInt(ROLES.length)];
        byte[] whole = RawClient.startup("user", role, "database", role, "options", "-c statement_timeout=100");
        switch (random.nextInt(8)) {
            case 0 -> whole[5] = (byte) random.nextInt(6); // another version
            case 1 -> whole[7] = (byte) random.nextInt(6);
            case 2 -> whole[random.nextInt(whole.length)] = (byte) random.nextInt();
            case 3 -> {
                return Arrays.copyOf(whole, random.nextInt(whole.length));
            }
            default -> {}
        }
        return whole;
    }

    private byte[] initial() {
        String first = switch (random.nextInt(4)) {
            case 0 -> "y,,n=,r=abc";
            case 1 -> "p=tls-server-end-point,,n=,r=abc";
            case 2 -> "n,a=millrace,n=fuzz,r=";
            default -> "n,,n=,r=abc";
        };
        byte[] bytes = first.getBytes(StandardCharsets.US_ASCII);
        String mechanism = MECHANISMS[random.nextInt(MECHANISMS.length)];
        return RawClient.message('p', out -> {
            RawClient.text(out, mechanism);
            out.writeInt(random.nextInt(5) == 0 ? random.nextInt() : bytes.length);
            out.write(bytes);
        });
    }

    private byte[] proof(List<String> replayed) {
        String proof = replayed.isEmpty() || random.nextBoolean()
                ? "c=biws,r=abc,p=" + Base64.getEncoder().encodeToString(new byte[random.nextInt(40)])
                : replayed.get(random.nextInt(replayed.size()));
        return RawClient.message('p', out -> out.write(proof.getBytes(StandardCharsets.US_ASCII)));
    }

    // ---- a login as it should be, and nearly -----------------------------------------------------------------------

    /** How far from right a login is that is right in its form. */
    enum Flaw {
        NONE,
        OTHER_PASSWORD,
        OTHER_NONCE,
        OTHER_BINDING,
        OTHER_ROLE,
        FLIPPED_PROOF,
        TWICE
    }

    /**
     * Goes through a whole login.
     *
     * @param good where a proof goes that was right
     * @return the code of the error, empty when the client was let in
     */
    static String login(RawClient client, Flaw flaw, List<String> good) throws IOException {
        client.send(RawClient.startup("user", flaw == Flaw.OTHER_ROLE ? "millrace" : "fuzz"));
        client.next();
        byte[] first = "n,,n=,r=fuzz-nonce".getBytes(StandardCharsets.US_ASCII);
        client.send(RawClient.message('p', out -> {
            RawClient.text(out, "SCRAM-SHA-256");
            out.writeInt(first.length);
            out.write(first);
        }));
        byte[] challenge = client.next().body();
        String serverFirst = new String(challenge, 4, challenge.length - 4, StandardCharsets.US_ASCII);
        String nonce = serverFirst.substring(2, serverFirst.indexOf(",s="));
        String last = "c=" + (flaw == Flaw.OTHER_BINDING ? "eSws" : "biws") + ",r="
                + (flaw == Flaw.OTHER_NONCE ? nonce + "x" : nonce);
        String password = flaw == Flaw.OTHER_PASSWORD ? "Secret" : "secret";
        byte[] proof = ScramProof.of(password, serverFirst, "n=,r=fuzz-nonce," + serverFirst + "," + last);
        if (flaw == Flaw.FLIPPED_PROOF) {
            proof[7] ^= 1;
        }
        String whole = last + ",p=" + Base64.getEncoder().encodeToString(proof);
        byte[] message = RawClient.message('p', out -> out.write(whole.getBytes(StandardCharsets.US_ASCII)));
        client.send(message);
        if (flaw == Flaw.TWICE) {
            client.send(message);
        }
        Message answer = client.next();
        if (answer.type() == 'E') {
            return answer.field('C');
        }
        if (good.size() < 100) {
            good.add(whole);
        }
        client.next('Z');
        return "";
    }
}
