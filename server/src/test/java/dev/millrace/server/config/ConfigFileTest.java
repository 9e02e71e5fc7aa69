package dev.millrace.server.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigValue;
import dev.millrace.engine.runtime.EngineOptions;
import dev.millrace.error.MillraceException;
import dev.millrace.server.config.ServerConfig.AuthMethod;
import dev.millrace.server.log.LogFormat;
import dev.millrace.server.pgwire.PgServerOptions;
import dev.millrace.server.tls.TlsMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConfigFileTest {
    @TempDir
    Path directory;

    private ServerConfig read(String text, String... given) throws Exception {
        Path file = directory.resolve("my.conf");
        Files.writeString(file, text);
        return ConfigFile.read(Optional.of(file), pairs(given));
    }

    private static Map<String, String> pairs(String... given) {
        return given.length == 0 ? Map.of() : Map.of(given[0], given[1]);
    }

    @Test
    void whatIsReadAndWhatIsDocumentedAreTheSame() {
        ConfigReader reader = new ConfigReader(ConfigFile.parsedReference());
        reader.config();
        assertEquals(ConfigFile.names(), reader.asked());
    }

    @Test
    void everyOptionHasAComment() {
        List<String> silent = new ArrayList<>();
        Config reference = ConfigFile.parsedReference();
        reference.root().forEach((name, value) -> collectSilent(name, value, silent));
        assertEquals(List.of(), silent, "options without a comment above them");
    }

    private static void collectSilent(String name, ConfigValue value, List<String> silent) {
        if (value instanceof ConfigObject group) {
            group.forEach((inner, of) -> collectSilent(name + "." + inner, of, silent));
        } else if (value.origin().comments().stream().allMatch(String::isBlank)) {
            silent.add(name);
        }
    }

    @Test
    void defaultsAreThoseOfTheEngineAndTheServer() {
        ServerConfig config = ConfigFile.read(Optional.empty(), Map.of());
        EngineOptions engine = EngineOptions.defaults();
        assertEquals(engine, config.engine());
        PgServerOptions server = PgServerOptions.local(PgServerOptions.DEFAULT_PORT);
        assertEquals(server.addresses(), config.addresses());
        assertEquals(server.port(), config.port());
        assertEquals(server.mostConnections(), config.limits().connections());
        assertEquals(server.mostMessageBytes(), config.limits().messageBytes());
        assertEquals(server.authenticationTimeout(), config.auth().timeout());
        assertTrue(config.loopbackOnly());
        assertTrue(config.data().isEmpty());
    }

    @Test
    void theCommandLineGoesBeforeTheFileAndTheFileBeforeTheDefaults() throws Exception {
        ServerConfig config = read("""
                listen { addresses = "localhost, 10.0.0.7", port = 7001 }
                engine.workers = 3        # a comment
                engine.memory = 1g
                tls.mode = require
                auth { method = password, timeout = 5s }
                log.format = json
                stop-timeout = 1 minute
                """, "listen.port", "7002");
        assertEquals(7002, config.port());
        assertEquals(List.of("localhost", "10.0.0.7"), config.addresses());
        assertFalse(config.loopbackOnly());
        assertEquals(3, config.engine().workers());
        assertEquals(1L << 30, config.engine().memoryLimitBytes());
        assertEquals(TlsMode.REQUIRE, config.tls().mode());
        assertEquals(AuthMethod.PASSWORD, config.auth().method());
        assertEquals(Duration.ofSeconds(5), config.auth().timeout());
        assertEquals(LogFormat.JSON, config.log().format());
        assertEquals(Duration.ofMinutes(1), config.stopTimeout());
        assertEquals(1000, config.limits().connections());
    }

    @Test
    void theDataDirectorysFileIsReadUnlessAnotherIsNamed() throws Exception {
        Files.writeString(directory.resolve(ConfigFile.NAME), "listen.port = 7003\n");
        Map<String, String> data = Map.of("data", directory.toString());
        assertEquals(7003, ConfigFile.read(Optional.empty(), data).port());
        Path other = directory.resolve("other.conf");
        Files.writeString(other, "listen.port = 7004\n");
        assertEquals(7004, ConfigFile.read(Optional.of(other), data).port());
    }

    @Test
    void theEnvironmentCanBeReferredTo() throws Exception {
        assertEquals(
                System.getenv("PATH"),
                read("http.cors-origin = ${PATH}\n").http().corsOrigin().orElseThrow());
        assertTrue(read("http.cors-origin = ${?MILLRACE_NO_SUCH_VARIABLE}\n")
                .http()
                .corsOrigin()
                .isEmpty());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "listen.prot = 1 | line 1: option \"listen.prot\" does not exist | did you mean \"listen.port\"?",
                "engine { \\n port = 1 } | line 2: option \"engine.port\" does not exist | did you mean \"edge.port\" or \"http.port\" or \"listen.port\"?",
                "engin { worker = 2 } | line 1: option \"engin.worker\" does not exist | did you mean \"engine.workers\"?",
                "qwertyuiop = 2 | line 1: option \"qwertyuiop\" does not exist | millrace server --print-config lists them",
                "tls = require | line 1: \"tls\" is a group of options, not one | its options are tls.certificate, tls.key, tls.mode",
                "listen.port = high | line 1: listen.port has type STRING rather than NUMBER |",
                "listen.port = 65536 | line 1: Invalid value at 'listen.port': must be from 0 to 65535, not 65536 |",
                "engine.memory = 1m | line 1: Invalid value at 'engine.memory': must be at least 16m |",
                "engine.epoch = soon | line 1: Invalid value at 'engine.epoch' |",
                "\\n\\ntls.mode = alow | line 3: Invalid value at 'tls.mode': must be one of off, allow, require, not \"alow\"; did you mean \"allow\"? |",
                "listen { port = 1 | Expecting close brace |",
            })
    void mistakesAreNamedWithTheirPlaceAndTheLikelyCure(String text, String message, String hint) {
        MillraceException error = assertThrows(MillraceException.class, () -> read(text.replace("\\n", "\n")));
        assertEquals("F0000", error.sqlState().code());
        assertTrue(error.getMessage().contains(message), error.getMessage());
        assertTrue(error.getMessage().startsWith(directory.resolve("my.conf").toString()), error.getMessage());
        assertFalse(error.getMessage().contains("\n"), error.getMessage());
        assertTrue(
                hint == null || error.hint().orElse("").contains(hint),
                () -> error.hint().orElse(""));
    }

    @Test
    void mistakesOfTheCommandLineAreNamedToo() {
        MillraceException error = assertThrows(
                MillraceException.class, () -> ConfigFile.read(Optional.empty(), Map.of("listen.prt", "1")));
        assertEquals("the command line: option \"listen.prt\" does not exist", error.getMessage());
        MillraceException missing = assertThrows(
                MillraceException.class, () -> ConfigFile.read(Optional.of(directory.resolve("none.conf")), Map.of()));
        assertEquals("there is no configuration file " + directory.resolve("none.conf"), missing.getMessage());
    }
}
