/** Other engines that benchmarks compare with, each a program of its own. Not part of Millrace's build. */
package dev.millrace.peer;
