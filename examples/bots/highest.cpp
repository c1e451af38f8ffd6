// A bot for any game that plays the legal action of the highest id: chatiere arena --bots "cmd:./highest".
// It does not need a library for JSON, because the host writes lines without spaces, and the ids ascend.
#include <iostream>
#include <string>

int main() {
    const std::string id = "\"id\":", legal = "\"legal\":[";
    std::string line;
    std::getline(std::cin, line);
    std::cout << R"({"type":"hello","protocol":1,"name":"Highest","reproducible":true})" << std::endl;
    while (std::getline(std::cin, line)) {
        std::string answer = "{\"id\":" + std::to_string(std::stoll(line.substr(line.find(id) + id.size())));
        answer += ",\"actions\":[";
        const char *comma = "";
        for (size_t place = 0; (place = line.find(legal, place)) != std::string::npos;) {
            const size_t end = line.find(']', place);
            const size_t last = line.find_last_of(",[", end) + 1;
            answer.append(comma).append(line, last, end - last);
            comma = ",";
            place = end;
        }
        std::cout << answer << "]}" << std::endl;
    }
}
