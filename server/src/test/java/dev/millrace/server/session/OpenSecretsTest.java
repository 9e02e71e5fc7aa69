package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connectors.Connectors;
import dev.millrace.error.MillraceException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** No definition, which others can read, has a secret: each option of each connector that may hold one takes a reference and nothing else. */
class OpenSecretsTest {
    private static final String OPEN = "opensesame";
    private static final String KAFKA = "connector = 'kafka', bootstrap = '127.0.0.1:1', topic = 't'";
    private static final String MQTT = "connector = 'mqtt', topic = 't'";
    private static final String JDBC = "connector = 'jdbc', table = 't'";
    private static final String POSTGRES = ", url = 'jdbc:postgresql://127.0.0.1:1/d'";

    /** A definition with a secret in one of its options. */
    private record Case(String option, String sql) {}

    private static Case stream(String option, String with) {
        return of(option, "CREATE STREAM x (v TEXT)", with);
    }

    private static Case sink(String option, String with) {
        return of(option, "CREATE SINK x FROM s", with);
    }

    private static Case table(String option, String with) {
        return of(option, "CREATE TABLE x (v TEXT PRIMARY KEY)", with);
    }

    /** The secret stands at the place of a star in the option's value, or is all of it. */
    private static Case of(String optionAndValue, String create, String with) {
        String[] parts = optionAndValue.split(" = ", 2);
        String value = parts.length > 1 ? parts[1].replace("*", OPEN) : OPEN;
        return new Case(parts[0], create + " WITH (" + with + ", \"" + parts[0] + "\" = '" + value + "')");
    }

    private static List<Case> cases() {
        List<Case> all = new ArrayList<>();
        for (String property : List.of(
                "sasl.jaas.config",
                "ssl.keystore.password",
                "ssl.key.password",
                "ssl.truststore.password",
                "ssl.keystore.key")) {
            all.add(stream("properties." + property, KAFKA));
            all.add(sink("properties." + property, KAFKA));
        }
        for (String format : List.of("avro", "protobuf")) {
            String registry = KAFKA + ", format = '" + format + "', schema_registry = 'http://127.0.0.1:1'"
                    + ", schema_registry.user = 'u'";
            all.add(stream("schema_registry.password", registry));
            all.add(sink("schema_registry.password", registry));
            all.add(stream("schema_registry = http://u:*@127.0.0.1:1", KAFKA + ", format = '" + format + "'"));
        }
        for (String option : List.of("password", "tls.key", "url = mqtt://u:*@127.0.0.1:1")) {
            String url = option.startsWith("url") ? "" : ", url = 'mqtts://127.0.0.1:1', username = 'u'";
            all.add(stream(option, MQTT + url));
            all.add(sink(option, MQTT + url));
        }
        for (String option : List.of("s3.secret_access_key", "s3.session_token")) {
            all.add(stream(option, "connector = 'file', path = 's3://b/*.csv', s3.access_key_id = 'i'"));
            all.add(sink(option, "connector = 'file', path = 's3://b/', s3.access_key_id = 'i'"));
        }
        all.add(stream("s3.endpoint = http://u:*@127.0.0.1:1", "connector = 'file', path = 's3://b/*.csv'"));
        all.add(stream("signature.secret", "connector = 'webhook', path = 'p'"));
        for (String header : List.of("authorization", "proxy-authorization", "cookie", "x-api-key", "x-auth-token")) {
            all.add(sink("header." + header, "connector = 'http', url = 'http://127.0.0.1:1/'"));
        }
        all.add(sink("url = http://u:*@127.0.0.1:1/", "connector = 'http'"));
        all.add(sink("url = http://127.0.0.1:1/?access_token=*", "connector = 'http'"));
        for (String option : List.of(
                "password",
                "properties.password",
                "properties.sslpassword",
                "url = jdbc:postgresql://127.0.0.1:1/d?user=u&password=*",
                "url = jdbc:postgresql://127.0.0.1:1/d?sslpassword=*",
                "url = jdbc:mariadb://u:*@127.0.0.1:1/d")) {
            String with = JDBC + (option.startsWith("url") ? "" : POSTGRES);
            all.add(sink(option, with));
            all.add(table(option, with));
        }
        return all;
    }

    @Test
    void anOpenSecretIsRefusedWithoutBeingTold() {
        try (TestDatabase database = new TestDatabase()) {
            database.run("CREATE STREAM s (v TEXT)");
            for (Case each : cases()) {
                MillraceException refused =
                        assertThrows(MillraceException.class, () -> database.run(each.sql()), each::sql);
                assertEquals("22023", refused.sqlState().code(), each.sql() + ": " + refused.getMessage());
                assertTrue(
                        refused.getMessage().contains("\"" + each.option() + "\"")
                                && refused.getMessage().contains("definitions can be read"),
                        each.sql() + ": " + refused.getMessage());
                assertFalse((refused.getMessage() + refused.hint()).contains(OPEN), refused::getMessage);
                assertEquals(List.of(), database.rows("SELECT 1 FROM pg_class WHERE relname = 'x'"));
            }
        }
    }

    /** Who adds an option that sounds like a secret adds a case here, or uses a reference for it. */
    @Test
    void everyOptionThatSoundsLikeASecretIsTried() {
        Connectors connectors = Connectors.standard(System.out);
        Set<String> secret = new TreeSet<>();
        Stream.of(
                        connectors.sources().stream().flatMap(each -> each.options().stream()),
                        connectors.sinks().stream().flatMap(each -> each.options().stream()),
                        connectors.feed("jdbc").options().stream(),
                        Connectors.formats().all().stream().flatMap(each -> each.options().stream()))
                .flatMap(each -> each)
                .map(OptionDescription::name)
                .filter(name -> Options.OpenSecret.isNamed(name) || name.endsWith("tls.key"))
                .forEach(secret::add);
        Set<String> tried = new TreeSet<>();
        cases().forEach(each -> tried.add(each.option()));
        assertTrue(secret.contains("password"), secret::toString);
        secret.removeAll(tried);
        assertEquals(Set.of(), secret);
    }
}
