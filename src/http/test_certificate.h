// For tests: a key and a certificate for localhost that signs itself, in files.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <string>

namespace pagoda::http {

struct TestCertificate {
  std::string key_file, certificate_file;

  explicit TestCertificate(const std::string& stem)
      : key_file(stem + "_key.pem"), certificate_file(stem + "_certificate.pem") {
    EVP_PKEY* key = ::EVP_EC_gen("P-256");
    X509* certificate = ::X509_new();
    ::X509_set_version(certificate, 2);
    ::ASN1_INTEGER_set(::X509_get_serialNumber(certificate), 1);
    ::X509_gmtime_adj(::X509_getm_notBefore(certificate), -3600);
    ::X509_gmtime_adj(::X509_getm_notAfter(certificate), 3600);
    ::X509_set_pubkey(certificate, key);
    X509_NAME* name = ::X509_get_subject_name(certificate);
    ::X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                                 reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
    ::X509_set_issuer_name(certificate, name);
    X509_EXTENSION* names =
        ::X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");
    ::X509_add_ext(certificate, names, -1);
    ::X509_EXTENSION_free(names);
    ::X509_sign(certificate, key, ::EVP_sha256());
    std::FILE* file = std::fopen(key_file.c_str(), "w");
    ::PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
    std::fclose(file);
    file = std::fopen(certificate_file.c_str(), "w");
    ::PEM_write_X509(file, certificate);
    std::fclose(file);
    ::X509_free(certificate);
    ::EVP_PKEY_free(key);
  }
  ~TestCertificate() {
    std::remove(key_file.c_str());
    std::remove(certificate_file.c_str());
  }
  TestCertificate(const TestCertificate&) = delete;
  TestCertificate& operator=(const TestCertificate&) = delete;
};

}  // namespace pagoda::http
